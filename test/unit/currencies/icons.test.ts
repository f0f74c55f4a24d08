import { createHash } from 'node:crypto';
import { coinIcons } from '../../../src/market/currencies/coin-icons.ts';
import { coinIcon, coinIconPath } from '../../../src/market/currencies/icons.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';

const coins = [...new Set(currencySeed.map(({ coin }) => coin))];

describe('packaged icons', () => {
  it('exist for every coin of the seed, and for no other', () => {
    expect(Object.keys(coinIcons).sort()).toEqual([...coins].sort());
  });

  it('are single svg elements of at most 32 KB', () => {
    for (const svg of Object.values(coinIcons)) {
      expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>$/);
      expect(Buffer.byteLength(svg)).toBeLessThanOrEqual(32 * 1024);
    }
  });

  it('have no scripts, event handlers or references outside themselves', () => {
    for (const svg of Object.values(coinIcons)) {
      const rest = svg.replace(/\sxmlns(:xlink)?="http:\/\/www\.w3\.org\/(2000\/svg|1999\/xlink)"/g, '');
      expect(rest).not.toMatch(/<(script|foreignObject|iframe|embed|object|style|!ENTITY|!DOCTYPE)\b/i);
      expect(rest).not.toMatch(/javascript:|https?:|data:/i);
      expect(rest).not.toMatch(/[\s"'/]on[a-z]+\s*=/i);
      expect(rest).not.toMatch(/(href|src)\s*=\s*["']?\s*(?!["'#])[^"'\s>]/i);
      expect(rest).not.toMatch(/url\(\s*["']?\s*[^#"'\s]/i);
    }
  });
});

describe('coinIcon', () => {
  it('gives the packaged icon', () => {
    expect(coinIcon('BTC').svg).toBe(coinIcons.BTC);
  });

  it('has a version that follows from the svg', () => {
    for (const coin of [...coins, 'NEW']) {
      const { svg, version } = coinIcon(coin);
      expect(version).toBe(createHash('sha256').update(svg).digest('hex').slice(0, 8));
    }
  });

  it('returns the same object for a second call', () => {
    expect(coinIcon('ETH')).toBe(coinIcon('ETH'));
    expect(coinIcon('NEW')).toBe(coinIcon('NEW'));
  });

  it('draws a circle with the first letters of a coin without a packaged icon', () => {
    const { svg } = coinIcon('NEWCOIN');
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<circle .*>NEW<\/text><\/svg>$/);
  });

  it('draws different coins differently even when their first letters agree', () => {
    expect(coinIcon('NEWA').svg).not.toBe(coinIcon('NEWB').svg);
  });

  it('escapes what XML would read as markup', () => {
    expect(coinIcon('<&"').svg).toContain('>&#60;&#38;&#34;</text>');
  });

  it('draws an icon for names of object prototypes', () => {
    expect(coinIcon('constructor').svg).toContain('>con</text>');
    expect(coinIcon('__proto__').svg).toContain('>__p</text>');
  });

  it('fits the contract of the API, 65536 characters, for every coin of the seed', () => {
    for (const coin of coins) expect(coinIcon(coin).svg.length).toBeLessThanOrEqual(65_536);
  });
});

describe('coinIconPath', () => {
  it('names the coin in small letters and the version of its icon', () => {
    expect(coinIconPath('USDT')).toBe(`/api/v1/coin-icons/usdt.svg?v=${coinIcon('USDT').version}`);
    expect(coinIconPath('USDT')).toMatch(/\?v=[0-9a-f]{8}$/);
  });
});
