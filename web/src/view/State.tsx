// A state as a word with a drawing; the colour only repeats them.

import { Icon } from "./Icon";
import type { Word } from "./words";

export function State({ word }: { word: Word }) {
  return (
    <span class={`state tone-${word.tone}`}>
      <Icon name={word.icon} />
      {word.text}
    </span>
  );
}
