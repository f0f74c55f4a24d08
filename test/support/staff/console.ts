import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { StaffRole } from '../../../src/accounts/staff/staff-member.entity.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { cabinetSettings } from '../cabinet/cabinet-client.ts';
import { seedOrders } from '../database/seed-orders.ts';
import { TestClock } from '../gateway/clock.ts';
import { feedCatchesUp } from '../gateway/orders.ts';
import { failedOrder, type MadeOrder, type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';
import { launchChromium } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A month of orders, one that waits for its deposit, and one that failed. */
export interface ConsoleSetup {
  readonly gateway: SettledGateway;
  readonly browser: Browser;
  readonly waiting: MadeOrder;
  readonly failed: MadeOrder;
  /** What browsers complained about, and hosts that pages asked, since the last look. */
  readonly complaints: string[];
  readonly hosts: Set<string>;
  /** A separate browser with a signed-in member, whose console shows a path. */
  open(role: StaffRole, path: string, options?: OpenOptions): Promise<Page>;
  /** Ends the browsers that were opened. */
  closeAll(): Promise<void>;
  stop(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Done to the page before it asks anything. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** The address of a page of the console. */
export function consoleUrl(gateway: SettledGateway, path: string): string {
  return `${gateway.app.internalUrl}/console${path}`;
}

/**
 * Builds the console, starts a gateway with two months of orders, and a browser.
 *
 * @param seeded How many orders there are in addition to the two that it makes. A worker that is
 *   asked to work, works on them too.
 */
export async function setUpConsole({ seeded = 2_000 } = {}): Promise<ConsoleSetup> {
  // In a separate process: the bundler does not load inside the test runner.
  execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'inherit' });
  const clock = new TestClock(new Date());
  const gateway = await startSettledGateway({
    clock,
    settings: { ...cabinetSettings, RATE_LIMIT_STAFF_PER_MIN: '100000' },
  });
  const failed = await failedOrder(gateway);
  const waiting = await gateway.order();
  if (seeded > 0) {
    await seedOrders(gateway.databaseUrl, { count: seeded, partners: 3, days: 60, until: clock.now() });
    await feedCatchesUp(gateway.query);
    await new OrderStats(gateway.app.orm).rollUp();
  }
  const browser = await launchChromium();
  const contexts = new Set<BrowserContext>();
  const tokens = new Map<StaffRole, string>();
  const complaints: string[] = [];
  const hosts = new Set<string>();

  async function tokenOf(role: StaffRole): Promise<string> {
    const known = tokens.get(role);
    if (known !== undefined) return known;
    const { token } = await gateway.staff.create(`${role}@staff.example`, role);
    tokens.set(role, token);
    return token;
  }

  return {
    gateway,
    browser,
    waiting,
    failed,
    complaints,
    hosts,
    open: async (role, path, { prepare, ...options } = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      contexts.add(context);
      context.on('request', (request) => {
        if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
      });
      const page = await context.newPage();
      page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await prepare?.(page);
      await page.goto(consoleUrl(gateway, path));
      await page.getByLabel('Staff token').fill(await tokenOf(role));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('main h1').waitFor();
      return page;
    },
    closeAll: async () => {
      for (const context of contexts) await context.close();
      contexts.clear();
    },
    stop: async () => {
      await browser.close();
      await gateway.stop();
    },
  };
}

/** Waits until a page of the console has its content and the live connection. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.locator('.skeleton:not(.example .skeleton)').first().waitFor({ state: 'detached' });
  await page.locator('.live-mark.live').waitFor();
}

/** How many columns of the page lie beyond the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** What axe finds wrong with the page. The page must have been opened with bypassCSP. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')))`,
  );
}
