import { createHash } from 'node:crypto';
import { coinIcons } from './coin-icons.ts';

/** An icon, with the version in its path. */
interface CoinIcon {
  readonly svg: string;
  readonly version: string;
}

/** Bounded by the catalogue, since only icons of its coins are requested. */
const cache = new Map<string, CoinIcon>();

/** The icon of a coin of the catalogue: the packaged icon, or a drawn one. */
export function coinIcon(coin: string): CoinIcon {
  const known = cache.get(coin);
  if (known) return known;
  const packaged = Object.hasOwn(coinIcons, coin) ? coinIcons[coin] : undefined;
  const svg = packaged ?? drawnIcon(coin);
  const icon = { svg, version: sha256(svg).toString('hex').slice(0, 8) };
  cache.set(coin, icon);
  return icon;
}

/**
 * Path of a coin's icon. The path changes with the icon, so that the answer may be cached for good.
 */
export function coinIconPath(coin: string): string {
  return `/api/v1/coin-icons/${coin.toLowerCase()}.svg?v=${coinIcon(coin).version}`;
}

/** Draws a circle with the first letters of the ticker. The ticker decides the colour. */
function drawnIcon(coin: string): string {
  const hue = sha256(coin).readUInt16BE(0) % 360;
  const letters = [...coin].slice(0, 3).join('');
  const fontSize = letters.length > 2 ? 8 : 10;
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">' +
    `<circle cx="12" cy="12" r="12" fill="hsl(${hue}, 55%, 36%)"/>` +
    `<text x="12" y="12" dy=".35em" fill="#fff" font-family="sans-serif" font-size="${fontSize}" font-weight="bold"` +
    ` text-anchor="middle">${escapeXml(letters)}</text></svg>`
  );
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
