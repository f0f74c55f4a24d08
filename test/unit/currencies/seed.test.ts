import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base32, base58, createBase58check } from '@scure/base';
import Big from 'big.js';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { type CurrencySeed, currencySeed } from '../../../src/market/currencies/seed.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';

const coins = [...new Set(currencySeed.map(({ coin }) => coin))];
const evmNetworks = new Set(['ERC20', 'BEP20', 'POLYGON', 'ARBITRUM', 'OPTIMISM', 'BASE', 'AVAXC']);
const plainNotation = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;

const labelled = currencySeed.map((row): [string, CurrencySeed] => [`${row.coin} on ${row.network}`, row]);

function priceOf(coin: string): Big {
  return new Big(sandboxPrices[coin] ?? Number.NaN);
}

function networksOf(coin: string): string[] {
  return currencySeed.filter((row) => row.coin === coin).map(({ network }) => network);
}

function decimalsOf(coin: string, network: string): number | undefined {
  return currencySeed.find((row) => row.coin === coin && row.network === network)?.decimals;
}

/** https://eips.ethereum.org/EIPS/eip-55 */
function eip55(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(new TextEncoder().encode(digits))).toString('hex');
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

/** CRC-16/XMODEM, which ends Stellar's and TON's addresses. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

function contractOf(coin: string, network: string): string {
  const contract = currencySeed.find((row) => row.coin === coin && row.network === network)?.contract;
  if (!contract) throw new Error(`${coin} on ${network} has no contract`);
  return contract;
}

describe('the seed as a whole', () => {
  it('has at least 30 coins in at least 40 rows', () => {
    expect(coins.length).toBeGreaterThanOrEqual(30);
    expect(currencySeed.length).toBeGreaterThanOrEqual(40);
  });

  it('has each pair of coin and network once', () => {
    const pairs = currencySeed.map(({ coin, network }) => `${coin}/${network}`);
    expect(pairs.filter((pair, at) => pairs.indexOf(pair) !== at)).toEqual([]);
  });

  it('has Tether and USD Coin on every network that is served', () => {
    expect(networksOf('USDT').sort()).toEqual(
      ['ERC20', 'TRC20', 'BEP20', 'SOL', 'POLYGON', 'ARBITRUM', 'OPTIMISM', 'AVAXC', 'TON'].sort(),
    );
    expect(networksOf('USDC').sort()).toEqual(
      ['ERC20', 'BEP20', 'SOL', 'POLYGON', 'ARBITRUM', 'OPTIMISM', 'BASE', 'AVAXC', 'XLM'].sort(),
    );
  });

  it('has the decimals of each contract, which for stablecoins differ by network', () => {
    expect(decimalsOf('USDT', 'ERC20')).toBe(6);
    expect(decimalsOf('USDT', 'BEP20')).toBe(18);
    expect(decimalsOf('USDC', 'BEP20')).toBe(18);
    expect(decimalsOf('USDC', 'XLM')).toBe(7);
    expect(decimalsOf('WBTC', 'ERC20')).toBe(8);
  });

  it('has a memo on exactly XRP, XLM, TON and ATOM', () => {
    const networks = new Set(currencySeed.filter(({ isMemo }) => isMemo).map(({ network }) => network));
    expect([...networks].sort()).toEqual(['ATOM', 'TON', 'XLM', 'XRP']);
  });

  it('names no contract of a network twice', () => {
    const contracts = currencySeed.filter((row) => row.contract).map((row) => `${row.network}/${row.contract}`);
    expect(new Set(contracts).size).toBe(contracts.length);
  });
});

describe.each(labelled)('the seed of %s', (_label, row) => {
  it('has every required member', () => {
    expect(row).toEqual({
      coin: expect.stringMatching(/^[A-Z0-9]{1,12}$/),
      network: expect.any(String),
      name: expect.stringMatching(/^\S.{0,98}\S$/),
      decimals: expect.any(Number),
      minAmount: expect.any(String),
      maxAmount: expect.any(String),
      minConfirmations: expect.any(Number),
      isMemo: expect.any(Boolean),
      networkFee: expect.any(String),
      explorerTxUrl: row.explorerTxUrl === null ? null : expect.stringMatching(/./),
      explorerAddressUrl: row.explorerAddressUrl === null ? null : expect.stringMatching(/./),
      contract: row.contract === null ? null : expect.stringMatching(/./),
    });
  });

  it('is on a known network and agrees with it about memos', () => {
    const network = networkById(row.network);
    expect(network).toBeDefined();
    expect(row.isMemo).toBe(network?.memo !== null);
  });

  it('has decimals and confirmations within the contract of the API', () => {
    expect(Number.isInteger(row.decimals) && row.decimals >= 0 && row.decimals <= 18).toBe(true);
    expect(Number.isInteger(row.minConfirmations)).toBe(true);
    expect(row.minConfirmations).toBeGreaterThanOrEqual(1);
    expect(row.minConfirmations).toBeLessThanOrEqual(100_000);
  });

  it('writes amounts in plain notation within its decimals', () => {
    for (const amount of [row.minAmount, row.maxAmount, row.networkFee]) {
      expect(amount).toMatch(plainNotation);
      expect(amount.split('.')[1]?.length ?? 0).toBeLessThanOrEqual(row.decimals);
    }
  });

  it('has limits of one or two significant digits, worth about 20 and 200000 dollars', () => {
    for (const limit of [row.minAmount, row.maxAmount]) expect(new Big(limit).c.length).toBeLessThanOrEqual(2);
    const min = Number(priceOf(row.coin).times(row.minAmount));
    const max = Number(priceOf(row.coin).times(row.maxAmount));
    expect(min).toBeGreaterThanOrEqual(10);
    expect(min).toBeLessThanOrEqual(40);
    expect(max).toBeGreaterThanOrEqual(150_000);
    expect(max).toBeLessThanOrEqual(250_000);
  });

  it('has its minimum below its maximum and a fee of at most a quarter of the minimum', () => {
    expect(new Big(row.minAmount).lt(row.maxAmount)).toBe(true);
    expect(new Big(row.networkFee).gt(0)).toBe(true);
    expect(new Big(row.networkFee).times(4).lte(row.minAmount)).toBe(true);
  });

  it('has explorer templates over https with one placeholder each', () => {
    if (row.explorerTxUrl !== null) {
      expect(row.explorerTxUrl).toMatch(/^https:\/\/[^{}]+\{tx\}[^{}]*$/);
      expect(URL.canParse(row.explorerTxUrl.replace('{tx}', 'ab12'))).toBe(true);
    }
    if (row.explorerAddressUrl !== null) {
      expect(row.explorerAddressUrl).toMatch(/^https:\/\/[^{}]+\{address\}[^{}]*$/);
      expect(URL.canParse(row.explorerAddressUrl.replace('{address}', 'ab12'))).toBe(true);
    }
  });
});

describe('contracts', () => {
  const nativeCoins: Readonly<Record<string, string>> = { BNB: 'BSC', POL: 'POLYGON', AVAX: 'AVAXC' };
  const isNative = ({ coin, network }: CurrencySeed) => network === (nativeCoins[coin] ?? coin);

  it('are named for tokens and absent for the coins of networks', () => {
    expect(currencySeed.filter((row) => isNative(row) !== (row.contract === null))).toEqual([]);
    expect(currencySeed.filter(isNative)).toHaveLength(22);
  });

  it('are spelt with the checksum of EIP-55 on EVM networks', () => {
    const rows = currencySeed.filter((row) => row.contract !== null && evmNetworks.has(row.network));
    expect(rows.length).toBeGreaterThanOrEqual(20);
    for (const { contract } of rows) {
      expect(contract).toMatch(/^0x[0-9a-fA-F]{40}$/);
      expect(contract).toBe(eip55(contract ?? ''));
    }
  });

  it('have a right checksum on TRON, Stellar and TON', () => {
    const base58check = createBase58check(
      (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()),
    );
    expect(base58check.decode(contractOf('USDT', 'TRC20'))[0]).toBe(0x41);
    const issuer = base32.decode(contractOf('USDC', 'XLM'));
    expect(issuer).toHaveLength(35);
    expect(Buffer.from(issuer).readUInt16LE(33)).toBe(crc16(issuer.subarray(0, 33)));
    const master = Buffer.from(contractOf('USDT', 'TON'), 'base64url');
    expect(master).toHaveLength(36);
    expect(master.readUInt16BE(34)).toBe(crc16(master.subarray(0, 34)));
  });

  it('are keys of 32 bytes on Solana', () => {
    for (const coin of ['USDT', 'USDC']) expect(base58.decode(contractOf(coin, 'SOL'))).toHaveLength(32);
  });
});

describe('sandbox prices', () => {
  it('exist for every coin of the seed and no other', () => {
    expect(Object.keys(sandboxPrices).sort()).toEqual([...coins].sort());
  });

  it('are positive and in plain notation', () => {
    for (const price of Object.values(sandboxPrices)) {
      expect(price).toMatch(plainNotation);
      expect(new Big(price).gt(0)).toBe(true);
    }
  });

  it('are one dollar for stablecoins', () => {
    expect([sandboxPrices.USDT, sandboxPrices.USDC, sandboxPrices.DAI]).toEqual(['1', '1', '1']);
  });

  it('keep their two significant digits when they move by 0.3 percent', () => {
    for (const price of Object.values(sandboxPrices)) {
      const digits = new Big(price).prec(2).toFixed();
      for (const factor of ['0.997', '1.003']) expect(new Big(price).times(factor).prec(2).toFixed()).toBe(digits);
    }
  });
});
