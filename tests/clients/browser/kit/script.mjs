// Pieces of scripts for the rehearsal.

/** For a command: goes on when the story has written this file. */
export function gate(file) {
  return `until [ -e ${file} ]; do sleep 0.05; done`;
}

export function shell(command) {
  return { tool: "run_shell_command", with: { command } };
}
