import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { pageRoot } from '../../orders/order-pages.ts';
import type { OrderReads } from '../../orders/read/order-reads.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { type AssetPaths, noticeHtml, orderHtml } from './page-html.ts';
import { type Links, pageView } from './page-view.ts';

interface PageAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A file of the pages. `path` names its content. */
interface PageFile {
  readonly path: string;
  readonly type: string;
  readonly content: string;
}

const styleFile = file('css', 'text/css', pageStyle);
const scriptFile = file('js', 'text/javascript', pageScript);
const assets: AssetPaths = { style: styleFile.path, script: scriptFile.path };

/** The name of each file of the pages: of this version, and of others that run concurrently. */
const fileName = /^page-[0-9a-f]{12}\.(css|js)$/;

/**
 * What every page is sent with. Nothing may be loaded from elsewhere, framed, stored, indexed, or
 * told to the sites that a link of the page leads to.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};

/** Whether a path is one of the order pages, or of their files. */
export function isOrderPage(path: string): boolean {
  return path.startsWith(pageRoot);
}

/** The file of the pages at a path. Null without one. */
export function pageFile(path: string): PageFile | null {
  const [, kind] = fileName.exec(path.slice(pageRoot.length)) ?? [];
  return kind === undefined ? null : kind === 'css' ? styleFile : scriptFile;
}

/** The pages of orders for the users who pay them. Rendered here; they work without script. */
export class OrderPageSite {
  readonly #orders: Pick<OrderReads, 'linked'>;
  readonly #links: Links;
  readonly #clock: Clock;

  constructor(orders: Pick<OrderReads, 'linked'>, links: Links, clock: Clock) {
    this.#orders = orders;
    this.#links = links;
    this.#clock = clock;
  }

  /**
   * The page at a path. Every path without a page gets the same answer after the same work: of a
   * malformed token, an unknown or revoked one, and of a partner without pages.
   */
  async page(path: string): Promise<PageAnswer> {
    const linked = await this.#orders.linked({ kind: 'page', token: path.slice(pageRoot.length) });
    if (!linked) return missing;
    const view = pageView(linked, this.#links, this.#clock.now());
    return { status: 200, body: orderHtml(view, assets), headers: pageHeaders };
  }
}

const missing = notice(404, 'There is no such order', 'Check the link, or ask for a new one where you got it.');

/** The page of a client that asks too often. */
export function tooManyPages(retryAfterSec: number): PageAnswer {
  const line = 'This page was opened too often. It shows the order again within a minute.';
  const { headers, ...answer } = notice(429, 'One moment, please', line, retryAfterSec);
  return { ...answer, headers: { ...headers, 'Retry-After': String(retryAfterSec) } };
}

/** The page while something of ours is away. */
export const pageUnavailable = notice(
  503,
  'This page is away for a moment',
  'Your order is safe. It shows again within a minute.',
  15,
);

function notice(status: number, headline: string, line: string, refreshSec: number | null = null): PageAnswer {
  return { status, body: noticeHtml({ headline, line, refreshSec }, assets), headers: pageHeaders };
}

function file(ending: string, type: string, content: string): PageFile {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { path: `${pageRoot}page-${digest}.${ending}`, type: `${type}; charset=utf-8`, content };
}
