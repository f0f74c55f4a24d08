import { setTimeout as sleep } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import {
  type Account,
  AddressStock,
  type AddressStockOptions,
  type IndexedAddress,
} from '../../../src/chains/addresses/address-stock.ts';
import { deriveDepositKey } from '../../../src/chains/addresses/deposit-address.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';

const root = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`));

function account(networkId: string): Account {
  const { keychain = '', accountPath = '' } = networkById(networkId) ?? {};
  return { keychain, networkId, xpub: root.derive(accountPath ?? '').publicExtendedKey };
}

const stocks: AddressStock[] = [];
afterEach(() => Promise.all(stocks.splice(0).map((stock) => stock.close())));

function open(options: Partial<AddressStockOptions> = {}): AddressStock {
  let last = 0;
  const reserve = async () => {
    last += 50;
    return { from: last - 50, to: last };
  };
  const stock = new AddressStock({ reserve, restartMs: 0, ...options });
  stocks.push(stock);
  return stock;
}

/** How often `taken` has asked, answers without an address included. */
let asked = 0;

/** Takes until the stock gives an address. */
async function taken(stock: AddressStock, from: Account): Promise<IndexedAddress> {
  for (;;) {
    asked++;
    const address = stock.take(from);
    if (address) return address;
    await sleep(5);
  }
}

/** Takes all that are ready at this moment. */
function allOf(stock: AddressStock, from: Account): IndexedAddress[] {
  const all: IndexedAddress[] = [];
  for (let each = stock.take(from); each; each = stock.take(from)) all.push(each);
  return all;
}

describe('the stock of deposit addresses', () => {
  it('has none at first, and then each address that the account has at an index, once', async () => {
    const stock = open();
    const [bitcoin, tron] = [account('BTC'), account('TRC20')];
    expect(stock.take(bitcoin)).toBeNull();
    const addresses = [];
    for (let n = 0; n < 150; n++) addresses.push(await taken(stock, bitcoin), await taken(stock, tron));
    expect(new Set(addresses.map(({ index }) => index)).size).toBe(addresses.length);
    for (const [n, { index, ...derived }] of addresses.entries()) {
      const { networkId, xpub } = n % 2 === 0 ? bitcoin : tron;
      expect(derived).toEqual(await deriveDepositKey(networkId, xpub, index));
    }
  });

  it('prepares in spare time as many as the last burst asked for, at most a given number', async () => {
    let last = 0;
    const reserve = async () => {
      last += 50;
      return { from: last - 50, to: last };
    };
    const stock = open({ most: 230, reserve });
    const [large, small] = [account('BTC'), account('TRC20')];
    for (let n = 0; n < 400; n++) await taken(stock, large);
    asked = 0;
    for (let n = 0; n < 120; n++) await taken(stock, small);
    const askedOfSmall = asked;
    // Thirteen blocks for 400 taken and 230 kept, and five for 120 and 120. Then the last comes.
    while (last < 18 * 50) await sleep(20);
    await sleep(5_000);
    const [ofLarge, ofSmall] = [allOf(stock, large), allOf(stock, small)];
    expect(ofLarge.length).toBeGreaterThanOrEqual(230);
    expect(ofLarge.length).toBeLessThan(280);
    expect(ofSmall.length).toBeGreaterThanOrEqual(120);
    expect(ofSmall.length).toBeLessThan(Math.min(askedOfSmall, 230) + 50);
    expect(new Set([...ofLarge, ...ofSmall].map(({ index }) => index)).size).toBe(ofLarge.length + ofSmall.length);
  });

  it('goes on with a new thread after the end of one, and tells of the end', async () => {
    const ends: string[] = [];
    const broken = open({
      program: new URL('data:text/javascript,process.exit(3)'),
      onEnd: (reason) => ends.push(reason),
    });
    while (ends.length < 3) {
      expect(broken.take(account('ETH'))).toBeNull();
      await sleep(5);
    }
    expect(ends.slice(0, 2)).toEqual(['exit 3', 'exit 3']);
  });

  it('gives no address of a thread that derives otherwise than this process', async () => {
    const ends: string[] = [];
    const program = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ account, from }) =>
        parentPort.postMessage({ account, addresses: [{ index: from, address: 'other', hiddenForms: null }] }));`;
    const broken = open({
      program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
      onEnd: (reason) => ends.push(reason),
    });
    while (ends.length < 2) {
      expect(broken.take(account('ETH'))).toBeNull();
      await sleep(5);
    }
    expect(ends[0]).toBe('derived another address than this process at index 0');
  });

  it('starts no thread again before its time', async () => {
    let reserved = 0;
    const ends: string[] = [];
    const broken = open({
      program: new URL('data:text/javascript,throw new Error("broken")'),
      reserve: async () => ({ from: reserved++, to: reserved }),
      onEnd: (reason) => ends.push(reason),
      restartMs: 3_600_000,
    });
    while (ends.length === 0) {
      broken.take(account('ETH'));
      await sleep(5);
    }
    const before = reserved;
    for (let n = 0; n < 10; n++) expect(broken.take(account('ETH'))).toBeNull();
    expect(ends).toEqual(['Error: broken']);
    expect(reserved).toBe(before);
  });

  it('gives nothing while no index can be reserved, and asks again', async () => {
    let isAway = true;
    const stock = open({
      reserve: async () => {
        if (isAway) throw new Error('the database is away');
        return { from: 7, to: 8 };
      },
    });
    expect(stock.take(account('BTC'))).toBeNull();
    await sleep(5);
    isAway = false;
    expect((await taken(stock, account('BTC'))).index).toBe(7);
  });

  it('leaves out an index without an address', async () => {
    const indexes = [{ from: 2 ** 31 - 1, to: 2 ** 31 + 1 }];
    const stock = open({ reserve: async () => indexes.pop() ?? { from: 5, to: 6 } });
    const [first, second] = [await taken(stock, account('BTC')), await taken(stock, account('BTC'))];
    expect([first.index, second.index]).toEqual([2 ** 31 - 1, 5]);
  });

  it('gives nothing more once it is closed', async () => {
    const stock = open();
    await taken(stock, account('BTC'));
    await stock.close();
    while (stock.take(account('BTC')));
    await sleep(5);
    expect(stock.take(account('BTC'))).toBeNull();
  });
});
