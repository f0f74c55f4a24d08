/**
 * Lets a command finish its work when the reader of its output ends early, as `head` does. Later
 * output is lost, and the exit code stays the command's own. Without it, Node ends the process with
 * a stack trace. For commands only: a server whose log cannot be written must end.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
