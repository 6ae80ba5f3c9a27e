// A dialog over the page. The browser's own: it keeps the focus inside, and Escape closes it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./Icon";
import { dialog } from "./dialogs";

export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const own = useRef(dialog.peek());
  // The event comes late: by then another one may be open.
  const close = () => {
    if (dialog.peek() === own.current) dialog.value = undefined;
  };
  return (
    <dialog
      ref={box}
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        if (event.target === box.current) close();
      }}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="bare" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
