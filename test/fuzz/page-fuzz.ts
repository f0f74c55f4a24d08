import type { Dice } from '../support/gateway/dice.ts';
import { type Surface, tried } from './surface.ts';

const encodings = ['identity', 'gzip', 'br', 'gzip;q=0, *', ''];
const methods = { GET: 12, HEAD: 2, POST: 1, PUT: 1, DELETE: 1, OPTIONS: 1 } as const;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Paths of the public listener that are no order's page. */
const publicPaths = [
  '/',
  '/o',
  '/o/',
  '/o/x',
  '/o/page-0000.js',
  '/o/%00',
  '/o/..%2f..%2fetc%2fpasswd',
  '/cabinet',
  '/cabinet/orders',
  '/cabinet/assets/nothing.js',
  '/api/v1/docs',
  '/api/v1/docs/postman.json',
  '/api/v1/llms.txt',
];
const internalPaths = [
  '/',
  '/livez',
  '/readyz',
  '/metrics',
  '/console',
  '/console/orders.csv',
  '/playground',
  '/sign-in',
];

/**
 * Pages of orders by right, wrong and broken links, their files, and the other pages of both
 * listeners.
 *
 * @param links Paths of order pages.
 */
export function pageSurface(publicUrl: string, internalUrl: string, links: readonly string[]): Surface {
  const files = new Set<string>();
  const pageOf = (dice: Dice): string => {
    const link = dice.pick(links);
    const wrong = `/o/${Array.from({ length: dice.pick([1, 21, 22, 23, 300]) }, () => dice.pick([...letters])).join('')}`;
    return dice.pick([link, link, link, wrong, link.slice(0, -1), `${link}/`, `${link}?a=%ff&a=1`, link.toUpperCase()]);
  };
  return async (dice) => {
    const kind = dice.weighted({
      'an order page': 6,
      'a file of order pages': 2,
      'another page': 1,
      'an internal page': 1,
    });
    const base = kind === 'an internal page' ? internalUrl : publicUrl;
    const path =
      kind === 'an internal page'
        ? dice.pick(internalPaths)
        : kind === 'another page'
          ? dice.pick(publicPaths)
          : kind === 'an order page' || files.size === 0
            ? pageOf(dice)
            : dice.pick([...files]);
    const method = dice.weighted(methods);
    const headers = {
      'Accept-Encoding': dice.pick(encodings),
      ...(dice.chance(0.2) ? { 'If-None-Match': dice.pick(['*', '"x"', 'W/"x"', ',,']) } : {}),
    };
    const reply = await fetch(`${base}${path}`, { method, headers, redirect: 'manual' });
    const text = await reply.text();
    for (const [, file = ''] of text.matchAll(/(?:href|src)="(\/o\/page-\w+\.(?:css|js))"/g)) files.add(file);
    return tried(kind, `${method} ${path}`, reply.status, text);
  };
}
