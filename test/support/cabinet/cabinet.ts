import { execFileSync } from 'node:child_process';
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import type { MemberRole } from '../../../src/accounts/members/rights.ts';
import { type CabinetPeople, cabinetPeople } from '../../../src/app/services.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { seedOrders } from '../database/seed-orders.ts';
import { TestClock } from '../gateway/clock.ts';
import { feedCatchesUp } from '../gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';
import { freePort } from '../http/local-server.ts';
import { launchChromium } from '../staff/browser.ts';
import { Receivers } from '../webhooks/receiver.ts';

/** A gateway with a cabinet, a partner with a month of orders, and a browser. */
export interface CabinetSetup {
  readonly gateway: SettledGateway;
  readonly browser: Browser;
  readonly receivers: Receivers;
  readonly people: CabinetPeople;
  /** CABINET_URL. */
  readonly origin: string;
  readonly partnerId: string;
  /** An order of the partner that waits for its deposit, and one that is completed. */
  readonly waiting: MadeOrder;
  readonly completed: MadeOrder;
  /** What browsers complained about, and hosts that pages asked. */
  readonly complaints: string[];
  readonly hosts: Set<string>;
  /** A one-time link for a person of the partner. */
  invite(name: string, role: MemberRole): Promise<string>;
  /** A separate browser with a device that holds passkeys. */
  visitor(options?: BrowserContextOptions): Promise<Visitor>;
  /** A browser whose person accepted an invitation, and then opened a page. */
  member(role: MemberRole, path?: string, options?: BrowserContextOptions): Promise<Visitor>;
  /** Dispatches what is committed, and sends all that is due now. */
  send(): Promise<void>;
  /** Sends until what waits for it is there. */
  sendUntil(shown: Promise<unknown>): Promise<void>;
  closeAll(): Promise<void>;
  stop(): Promise<void>;
}

/** A browser with virtual devices that answer for its person. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Adds a device for passkeys. A browser has one that is built in, and others by USB. */
  addDevice(transport: 'internal' | 'usb'): Promise<string>;
  /** Whether the person shows finger or PIN to the built-in device. */
  verifies(isVerified: boolean): Promise<void>;
  open(path: string): Promise<void>;
}

const device = {
  protocol: 'ctap2',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** Builds the pages, starts a gateway with a cabinet on localhost, and a browser. */
export async function setUpCabinet(settings: Record<string, string> = {}): Promise<CabinetSetup> {
  // In a separate process: the bundler does not load inside the test runner.
  execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'inherit' });
  const clock = new TestClock(new Date());
  const receivers = await Receivers.start();
  const port = await freePort();
  // A passkey cannot belong to an IP address.
  const origin = `http://localhost:${port}`;
  const gateway = await startSettledGateway({
    clock,
    settings: {
      ...receivers.settings,
      CABINET_URL: origin,
      PORT: String(port),
      RATE_LIMIT_CABINET_PER_MIN: '100000',
      ...settings,
    },
    outside: { receivers: receivers.outside },
  });
  const waiting = await gateway.order({ external_id: 'cart-1' });
  const completed = await gateway.order({ external_id: 'cart-2', markup_bps: 50 });
  await gateway.deposit(completed);
  await gateway.settle(completed);
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from exchange_order where id = $1', [
    waiting.id,
  ]);
  const partnerId = row?.partner_id ?? '';
  await seedOrders(gateway.databaseUrl, { count: 600, partners: [partnerId], days: 40, until: clock.now() });
  await feedCatchesUp(gateway.query);
  await new OrderStats(gateway.app.orm).rollUp();
  // What happened before the first endpoint is sent to none.
  await gateway.app.webhooks?.dispatcher.dispatch();
  const people = cabinetPeople(gateway.app.orm, clock, origin);
  const browser = await launchChromium();
  const contexts = new Set<BrowserContext>();
  const complaints: string[] = [];
  const hosts = new Set<string>();

  const invite = async (name: string, role: MemberRole): Promise<string> =>
    (await people.members.invite(partnerId, { name, role }, null)).link;

  const visitor = async (options: BrowserContextOptions = {}): Promise<Visitor> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    contexts.add(context);
    context.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    const protocol: CDPSession = await context.newCDPSession(page);
    await protocol.send('WebAuthn.enable');
    const addDevice = async (transport: 'internal' | 'usb'): Promise<string> =>
      (await protocol.send('WebAuthn.addVirtualAuthenticator', { options: { ...device, transport } })).authenticatorId;
    const builtIn = await addDevice('internal');
    return {
      page,
      context,
      addDevice,
      verifies: async (isUserVerified) => {
        await protocol.send('WebAuthn.setUserVerified', { authenticatorId: builtIn, isUserVerified });
      },
      open: async (path) => {
        await page.goto(`${origin}/cabinet${path}`);
      },
    };
  };

  const send = async (): Promise<void> => {
    const { webhooks } = gateway.app;
    await feedCatchesUp(gateway.query);
    await webhooks?.dispatcher.dispatch();
    for (;;) {
      const begun = await webhooks?.sender.begin();
      await webhooks?.sender.idle();
      if (begun === 0) return;
    }
  };

  let names = 0;
  return {
    gateway,
    browser,
    receivers,
    people,
    origin,
    partnerId,
    waiting,
    completed,
    complaints,
    hosts,
    invite,
    visitor,
    member: async (role, path = '/', options = {}) => {
      const visiting = await visitor(options);
      const { page } = visiting;
      await page.goto(await invite(`${role} ${++names}`, role));
      await page.getByRole('button', { name: 'Make a passkey' }).click();
      await page.getByRole('button', { name: 'Later' }).waitFor();
      await gateway.query('update partner_member set linked_by_staff_at = null where partner_id = $1', [partnerId]);
      await page.getByRole('button', { name: 'Later' }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
      if (path !== '/') await visiting.open(path);
      await page.locator('main h1').waitFor();
      return visiting;
    },
    send,
    sendUntil: async (shown) => {
      let isShown = false;
      const ended = shown.finally(() => {
        isShown = true;
      });
      while (!isShown) await send();
      await ended;
    },
    closeAll: async () => {
      for (const context of contexts) await context.close();
      contexts.clear();
    },
    stop: async () => {
      await browser.close();
      await gateway.stop();
      await receivers.stop();
    },
  };
}

/** Waits until a page of the cabinet has its content. */
export async function settledCabinet(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}
