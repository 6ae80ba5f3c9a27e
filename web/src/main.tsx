// Begins: takes the token out of the address before anything else, then draws the page.

import { render } from "preact";
import "./style/index.css";
import { keepPreferences } from "./state/preferences";
import { followAddress } from "./state/route";
import { App } from "./view/App";
import { takeFromAddress } from "./wire/token";

takeFromAddress(location, history);
// The banner's link was opened in a page that is already there.
addEventListener("hashchange", () => {
  if (takeFromAddress(location, history)) location.reload();
});
keepPreferences();
followAddress();

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
