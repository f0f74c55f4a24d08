import { explorerUrl } from '../../../src/market/currencies/explorer-url.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';

const pages = {
  explorerTxUrl: 'https://mempool.space/tx/{tx}',
  explorerAddressUrl: 'https://mempool.space/address/{address}',
};

describe('the page of a block explorer', () => {
  it('is that of a transaction or an address', () => {
    expect(explorerUrl(pages, 'transaction', '4a5e')).toBe('https://mempool.space/tx/4a5e');
    expect(explorerUrl(pages, 'address', 'bc1q')).toBe('https://mempool.space/address/bc1q');
  });

  it('is none where no explorer shows it, and none without encryption', () => {
    expect(explorerUrl({ ...pages, explorerAddressUrl: null }, 'address', 'bc1q')).toBeNull();
    expect(explorerUrl({ ...pages, explorerTxUrl: 'javascript:alert({tx})' }, 'transaction', '1')).toBeNull();
  });

  it('cannot be left by what it shows', () => {
    expect(explorerUrl(pages, 'transaction', '../../x?"<$&')).toBe(
      'https://mempool.space/tx/..%2F..%2Fx%3F%22%3C%24%26',
    );
  });

  it.each(currencySeed.map((seed) => [`${seed.coin} ${seed.network}`, seed] as const))('is a URL for %s', (_, seed) => {
    for (const kind of ['transaction', 'address'] as const) {
      const url = explorerUrl(seed, kind, 'abc123');
      if (url !== null) expect(new URL(url).href).toContain('abc123');
      else expect([seed.network, kind]).toEqual(['XMR', 'address']);
    }
  });
});
