import { Receivers } from '../../support/webhooks/receiver.ts';

/** What a receiver got of an event. */
interface GotBody {
  readonly body: string;
  readonly attempts: number;
}

/**
 * The receivers of the day's webhooks. They refuse the first attempt of some events, by the number
 * of the event in its order.
 */
export class Hooks {
  /** By order id, then by endpoint and number of the event. */
  readonly #bodies = new Map<string, Map<string, GotBody>>();
  /** Events whose second attempt had another body than the first. */
  readonly faults: string[] = [];
  readonly #receivers: Receivers;

  private constructor(receivers: Receivers) {
    this.#receivers = receivers;
  }

  static async start(): Promise<Hooks> {
    const receivers = await Receivers.start();
    const hooks = new Hooks(receivers);
    return hooks;
  }

  get ca(): string {
    return this.#receivers.certificate.cert;
  }

  get settings(): Readonly<Record<string, string>> {
    return this.#receivers.settings;
  }

  /** The address of a receiver. */
  readonly url = (name: string): string => {
    this.#receivers.behave(name, ({ body, event }, res) => {
      // The list that the receivers keep would grow for the whole day.
      this.#receivers.received.length = 0;
      const { order_id: orderId, seq, event_id: eventId } = event.data;
      const ofOrder = this.#bodies.get(orderId) ?? new Map<string, GotBody>();
      this.#bodies.set(orderId, ofOrder);
      const key = `${name} ${seq}`;
      const known = ofOrder.get(key);
      if (known && known.body !== body) this.faults.push(`the event ${eventId} had two bodies`);
      const attempts = (known?.attempts ?? 0) + 1;
      ofOrder.set(key, { body, attempts });
      const isRefused = attempts === 1 && seq % 7 === 5;
      res.writeHead(isRefused ? 503 : 204).end();
    });
    return this.#receivers.url(name);
  };

  /** The bodies of the events of an order, each by the name of its receiver and its number. */
  of(orderId: string): ReadonlyMap<string, string> {
    return new Map([...(this.#bodies.get(orderId) ?? [])].map(([key, { body }]) => [key, body]));
  }

  /** Events that receivers got. */
  get count(): number {
    return [...this.#bodies.values()].reduce((sum, bodies) => sum + bodies.size, 0);
  }

  stop(): Promise<void> {
    return this.#receivers.stop();
  }
}
