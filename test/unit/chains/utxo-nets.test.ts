import { setTimeout as sleep } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { addressExample, checkAddress } from '../../../src/chains/addresses/address.ts';
import { AddressStock } from '../../../src/chains/addresses/address-stock.ts';
import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { useUtxoNets, utxoNet } from '../../../src/chains/networks/utxo-nets.ts';

const root = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`));
const xpub = (id: string): string => root.derive(networkById(id)?.accountPath ?? '').publicExtendedKey;

const main = {
  BTC: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  LTC: 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
  DOGE: 'DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC',
};

beforeAll(() => {
  // Undecided is main.
  expect([utxoNet('bitcoin'), addressExample('LTC')]).toEqual(['main', main.LTC]);
  useUtxoNets(
    new Map([
      ['bitcoin', 'regtest'],
      ['litecoin', 'regtest'],
      ['dogecoin', 'test'],
    ]),
  );
});

describe('a process that serves test networks', () => {
  it.each([
    ['BTC', 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx'],
    ['LTC', 'rltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c23g5xdr'],
    ['DOGE', 'naxvmcKgLi92MJkVvNBGVPooeJKY4wHDxY'],
  ])('derives, prints and accepts addresses of its own form on %s', async (id, address) => {
    expect(await deriveDepositAddress(id, xpub(id), 0)).toBe(address);
    expect(addressExample(id)).toBe(address);
    expect(checkAddress(id, address, null)).toMatchObject({ ok: true, address });
  });

  it('derives addresses of its own form ahead', async () => {
    const stock = new AddressStock({ reserve: async () => ({ from: 0, to: 1 }) });
    const account = { keychain: 'litecoin', networkId: 'LTC', xpub: xpub('LTC') };
    let taken = stock.take(account);
    for (; !taken; taken = stock.take(account)) await sleep(5);
    expect(taken.address).toBe('rltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c23g5xdr');
    await stock.close();
  });

  it.each([
    ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'p2pkh'],
    ['BTC', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'p2sh'],
    ['BTC', 'BCRT1QCR8TE4KR609GCAWUTMRZA0J4XV80JY8ZEQCHGX', 'p2wpkh'],
    ['LTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'p2pkh'],
  ])('accepts the other forms of its network: %s %s', (id, address, kind) => {
    expect(checkAddress(id, address, null)).toMatchObject({ ok: true, kind });
  });

  it.each([
    ['BTC', main.BTC],
    ['BTC', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['BTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
    ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['LTC', main.LTC],
    ['LTC', 'LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz'],
    ['LTC', 'MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441'],
    ['LTC', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
    ['DOGE', main.DOGE],
    ['ERC20', 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx'],
  ])('refuses addresses of other networks: %s %s', (id, address) => {
    expect(checkAddress(id, address, null)).toMatchObject({ ok: false, code: 'wrong_network_address' });
  });

  it('describes the form of its addresses', () => {
    const check = checkAddress('LTC', main.LTC, null);
    expect(check.ok ? '' : check.detail).toContain('another network than the test network that is served here');
    const foreign = checkAddress('LTC', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', null);
    expect(foreign.ok ? '' : foreign.detail).toContain('an address on LTC starts with rltc1, m, n or Q');
  });

  it('recognises a private key of its network', () => {
    const check = checkAddress('BTC', 'cTpB4YiyKiBcPxnefsDpbnDxFDffjqJob8wGCEDXxgQ7zQoMXJdH', null);
    expect(check.ok ? '' : check.detail).toContain('SECRET KEY');
  });

  it('never changes to another network, and accepts the same setting again', () => {
    expect(() => useUtxoNets(new Map([['bitcoin', 'test']]))).toThrow('bitcoin on regtest');
    expect(() => useUtxoNets(new Map())).toThrow('on regtest');
    expect(() => useUtxoNets(new Map([['monero', 'test']]))).toThrow('monero is not a Bitcoin-like chain');
    useUtxoNets(
      new Map([
        ['dogecoin', 'test'],
        ['litecoin', 'regtest'],
        ['bitcoin', 'regtest'],
      ]),
    );
    expect(utxoNet('dogecoin')).toBe('test');
  });
});
