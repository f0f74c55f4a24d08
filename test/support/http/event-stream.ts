/** An event of a stream as a client reads it. */
export interface StreamedEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** A client of server-sent events, as the standard has it, over a plain request. */
export class StreamClient {
  readonly events: StreamedEvent[] = [];
  readonly comments: string[] = [];
  retryMs: number | null = null;
  status = 0;
  text = '';
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #changed: () => void = () => {};
  #isOver = false;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.ended = this.#read(url, headers);
  }

  /** Waits until a condition holds, and fails when the stream ends before. */
  async until(holds: (client: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.#isOver) throw new Error(`the stream ended: ${this.status} ${this.text.slice(-300)}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    try {
      const response = await fetch(url, { headers, signal: this.#abort.signal });
      this.status = response.status;
      const decoder = new TextDecoder();
      let rest = '';
      for await (const bytes of response.body ?? []) {
        const text = decoder.decode(bytes, { stream: true });
        this.text += text;
        const parts = (rest + text).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) this.#take(part);
        this.#changed();
      }
    } catch {
      // An aborted or cut connection has ended.
    } finally {
      this.#isOver = true;
      this.#changed();
    }
  }

  #take(part: string): void {
    const lines = part.split('\n');
    const fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
    if (lines[0]?.startsWith(':')) this.comments.push(part);
    else if (fields.has('retry')) this.retryMs = Number.parseInt(fields.get('retry') ?? '', 10);
    else {
      this.events.push({
        id: fields.get('id') ?? null,
        event: fields.get('event') ?? '',
        data: fields.get('data') ?? '',
      });
    }
  }
}
