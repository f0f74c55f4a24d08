import { type Repeated, repeat, withPause } from '../base/jobs/repeat.ts';
import type { WebhookDispatcher } from './dispatcher.ts';
import type { WebhookSender } from './sender.ts';

/** Pause between two looks at the feed, and for due deliveries when there are none. */
const idleMs = 250;
/** Pause while there is work. */
const busyMs = 20;
/** How long deliveries under way may take to end when the process stops. */
const stopMs = 5_000;

interface WebhookWorkerParts {
  readonly dispatcher: WebhookDispatcher;
  readonly sender: WebhookSender;
  readonly onFailure: (error: unknown) => void;
}

/** Dispatches events and sends deliveries until it is stopped. */
export class WebhookWorker {
  readonly #parts: WebhookWorkerParts;
  #tasks: readonly Repeated[] = [];

  constructor(parts: WebhookWorkerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { dispatcher, sender, onFailure } = this.#parts;
    let begun = 0;
    this.#tasks = [
      repeat({ task: () => dispatcher.dispatch(), rhythm: withPause(idleMs), onFailure }),
      repeat({
        task: async () => {
          begun = 0;
          begun = await sender.begin();
        },
        rhythm: () => (begun > 0 ? busyMs : idleMs),
        onFailure,
      }),
    ];
  }

  /** Begins nothing more. A delivery that does not end in time is left to its lease. */
  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.stop()));
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise((resolve) => {
      timer = setTimeout(resolve, stopMs);
    });
    await Promise.race([this.#parts.sender.idle(), limit]);
    clearTimeout(timer);
  }
}
