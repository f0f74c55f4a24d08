/** Keeps what a gateway logs. */
export class LogSink {
  readonly #lines: string[] = [];

  write(line: string): void {
    this.#lines.push(line);
  }

  lines(): readonly string[] {
    return this.#lines;
  }
}
