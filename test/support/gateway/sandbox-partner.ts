import type { Reply } from '../http/contract-client.ts';
import { isVerified, Receivers } from '../webhooks/receiver.ts';
import { TestClock } from './clock.ts';
import { feedCatchesUp } from './orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from './settled-gateway.ts';

/** A partner of a sandbox, who calls the REST API only, with a separate webhook endpoint. */
export class SandboxPartner {
  readonly gateway: SettledGateway;
  readonly receivers: Receivers;
  readonly #secret: string;

  private constructor(gateway: SettledGateway, receivers: Receivers, secret: string) {
    this.gateway = gateway;
    this.receivers = receivers;
    this.#secret = secret;
  }

  static async start(): Promise<SandboxPartner> {
    const receivers = await Receivers.start();
    const gateway = await startSettledGateway({
      // The first blocks of the chains have the time of the machine.
      clock: new TestClock(new Date()),
      settings: { ...receivers.settings, FIXED_RATE_WINDOW_SEC: '15' },
      outside: { receivers: receivers.outside },
    });
    const body = { url: receivers.url('partner') };
    const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body });
    return new SandboxPartner(gateway, receivers, json.secret);
  }

  /** Stops all, after a look at the books. */
  async stop(): Promise<void> {
    try {
      expect((await this.gateway.differences()).filter(({ check }) => check !== 'debits')).toEqual([]);
    } finally {
      await this.gateway.stop();
      await this.receivers.stop();
    }
  }

  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    path: string,
    { body, key = this.gateway.key, headers = {} }: { body?: object; key?: string; headers?: object } = {},
  ): Promise<Reply> {
    return this.gateway.call(method, `/partner/${path}`, { key, headers: { ...headers }, ...(body ? { body } : {}) });
  }

  /** Calls what must succeed, and returns the answer. */
  async done(path: string, body?: object, method: 'POST' | 'PUT' = 'POST'): Promise<Reply['json']> {
    const { status, text, json } = await this.call(method, path, body ? { body } : {});
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return json;
  }

  async details({ id }: MadeOrder): Promise<Reply['json']> {
    return (await this.call('GET', `orders/${id}/details`)).json;
  }

  /** The gateway works for some seconds, and each chain with work gets a block a second. */
  async seconds(count: number): Promise<void> {
    const { gateway } = this;
    const { prices } = gateway.settlement.settler.tools;
    for (let i = 0; i < count; i += 1) {
      await gateway.tick();
      gateway.clock.advance(1_000);
      await prices.refresh(gateway.app.catalogue.coins());
      await gateway.settlement.sandbox.mineDue(1_000);
    }
    await gateway.tick();
  }

  /** Sends all events, and returns the types that the receiver got of an order, in their order. */
  async webhooksOf({ id }: MadeOrder): Promise<string[]> {
    const { webhooks } = this.gateway.app;
    await feedCatchesUp(this.gateway.query);
    await webhooks?.dispatcher.dispatch();
    await this.send();
    const own = this.receivers.of('partner').filter(({ event }) => event.data.order_id === id);
    expect(own.every((received) => isVerified(received, this.#secret, this.gateway.clock.now()))).toBe(true);
    own.sort((one, other) => one.event.data.seq - other.event.data.seq);
    return own.map(({ event }) => event.type.replace('order.', ''));
  }

  /** Sends what is due. */
  async send(): Promise<void> {
    const { webhooks } = this.gateway.app;
    for (;;) {
      const begun = await webhooks?.sender.begin();
      await webhooks?.sender.idle();
      if (begun === 0) return;
    }
  }

  isSigned(received: Parameters<typeof isVerified>[0]): boolean {
    return isVerified(received, this.#secret, this.gateway.clock.now());
  }
}
