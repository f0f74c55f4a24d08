// Measures the pages for people in Chromium: how soon a page is painted and has its content, and
// what it loads. Then: how long a filter or a next page takes in addition to the server's answer.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { wholeNumber } from '../support/command-line.ts';
import startDatabase from '../support/jest/global-setup.ts';
import stopDatabase from '../support/jest/global-teardown.ts';
import { settled, setUpConsole } from '../support/staff/console.ts';
import { median, shown } from './report.ts';

const { values: given } = parseArgs({
  options: { help: { type: 'boolean', default: false }, runs: { type: 'string', default: '7' } },
});
if (given.help) {
  process.stdout.write(`Usage: npm run bench -- pages [--runs 7]

Builds the pages from nothing, then opens each so many times in a browser without a cache, and prints Markdown tables
with medians. Needs Chromium.
`);
  process.exit(0);
}
const runs = wholeNumber(given, 'runs');

interface Opening {
  readonly paintMs: number;
  /** When no placeholder is left. */
  readonly contentMs: number;
  /** Bytes of scripts and styles, as they were sent. */
  readonly bytes: number;
}

/** What the browser noted of the page that it just opened. */
async function opening(page: Page, ready: (page: Page) => Promise<void>): Promise<Opening> {
  await ready(page);
  return page.evaluate<Opening>(`({
    paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
    contentMs: performance.now(),
    bytes: performance.getEntriesByType('resource')
      .filter(({ name }) => /\\.(js|css)(\\?|$)/.test(name))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  })`);
}

async function many(one: () => Promise<Opening>): Promise<Opening> {
  const all: Opening[] = [];
  for (let run = 0; run < runs; run++) all.push(await one());
  const of = (member: keyof Opening): number => median(all.map((each) => each[member])) ?? Number.NaN;
  return { paintMs: of('paintMs'), contentMs: of('contentMs'), bytes: of('bytes') };
}

/**
 * Milliseconds from a press until the table shows other rows, less those of the server's answer.
 * Both moments are the browser's own.
 */
async function besideAnswer(page: Page, press: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    performance.clearResourceTimings();
    const before = document.querySelector('tbody').textContent;
    const began = performance.now();
    const observer = new MutationObserver(() => {
      const body = document.querySelector('tbody');
      if (!body || body.textContent === before) return;
      observer.disconnect();
      // The frame that shows the rows.
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const ended = performance.now();
        const answers = performance.getEntriesByType('resource').filter(({ name }) => /graphql|cabinet\\/api/.test(name));
        const server = Math.max(0, ...answers.map(({ startTime, responseEnd }) => responseEnd - startTime));
        resolve(ended - began - server);
      }));
    });
    observer.observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
    (${press}).click();
  })`);
}

const openings: [string, Opening][] = [];
const moves: [string, number][] = [];
const chip = (name: string): string =>
  `[...document.querySelectorAll('.chip')].find(({ textContent }) => textContent === '${name}')`;
const next = `[...document.querySelectorAll('.pager button')].find(({ textContent }) => textContent.trim() === 'After')`;

async function moved(title: string, page: Page, press: string, back: () => Promise<unknown>): Promise<void> {
  const all: number[] = [];
  for (let run = 0; run < runs; run++) {
    all.push(await besideAnswer(page, press));
    await back();
  }
  moves.push([title, median(all) ?? Number.NaN]);
}

rmSync('web/dist', { recursive: true, force: true });
const began = performance.now();
execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'ignore' });
const buildMs = performance.now() - began;

await startDatabase();
const staff = await setUpConsole();
try {
  const paths: readonly (readonly [string, string])[] = [
    ['overview', '/'],
    ['orders', '/orders'],
    ['order', `/orders/${staff.failed.id}`],
    ['partners', '/partners'],
    ['money', '/money'],
  ];
  for (const [name, path] of paths) {
    const figures = await many(async () => {
      const page = await staff.open('admin', '/me');
      // The page is opened as at a first visit: nothing of it is in a cache.
      const session = await page.context().newCDPSession(page);
      await session.send('Network.setCacheDisabled', { cacheDisabled: true });
      await page.goto(`${staff.gateway.app.internalUrl}/console${path}`);
      const one = await opening(page, settled);
      await page.context().close();
      return one;
    });
    openings.push([`console, ${name}`, figures]);
  }
  const page = await staff.open('admin', '/orders');
  const toAll = async (): Promise<void> => {
    await page.goto(`${staff.gateway.app.internalUrl}/console/orders`);
    await settled(page);
    await page.locator('tbody tr').first().waitFor();
  };
  await toAll();
  await moved('console, orders by status', page, chip('Completed'), toAll);
  await moved('console, next orders', page, next, toAll);
} finally {
  await staff.stop();
}

const partner = await setUpCabinet();
try {
  for (const [name, path] of [
    ['home', '/'],
    ['orders', '/orders'],
    ['keys', '/keys'],
  ] as const) {
    const { page, open } = await partner.member('owner');
    const session = await page.context().newCDPSession(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    const figures = await many(async () => {
      await open(path);
      return opening(page, settledCabinet);
    });
    openings.push([`cabinet, ${name}`, figures]);
    await page.context().close();
  }
  const { page, open } = await partner.member('owner', '/orders');
  const toAll = async (): Promise<void> => {
    await open('/orders');
    await settledCabinet(page);
    await page.locator('tbody tr').first().waitFor();
  };
  await toAll();
  await moved('cabinet, orders by status', page, chip('Completed'), toAll);
  await moved('cabinet, next orders', page, next, toAll);
} finally {
  await partner.stop();
}

await stopDatabase();

process.stdout.write(`
The pages are built from nothing in ${shown(buildMs / 1_000, 1)} s.

| page | first paint ms | content ms | scripts and styles, kB |
|---|---|---|---|
${openings.map(([name, { paintMs, contentMs, bytes }]) => `| ${name} | ${shown(paintMs)} | ${shown(contentMs)} | ${shown(bytes / 1_000)} |`).join('\n')}

| move | ms beside the server's answer |
|---|---|
${moves.map(([name, ms]) => `| ${name} | ${shown(ms)} |`).join('\n')}
`);
