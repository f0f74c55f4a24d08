import { fromUnits } from '../../../src/base/money.ts';
import { parseCoins } from '../../../src/chains/utxo/utxo-amount.ts';
import { readBlock } from '../../../src/chains/utxo/utxo-block.ts';

const hash = (digit: string): string => digit.repeat(64);
const output = (n: number, value: unknown, script: object) => ({ n: String(n), value, scriptPubKey: script });
const keyHash = (address: string) => ({ type: 'witness_v0_keyhash', hex: '00', address });
const input = (txid: string, vout: number) => ({ txid, vout: String(vout) });
const coinbase = { txid: hash('c'), vin: [{ coinbase: '51' }], vout: [output(0, '50.00000000', keyHash('miner'))] };

const block = (txs: unknown, changes: object = {}) => ({
  hash: hash('b'),
  height: '7',
  previousblockhash: hash('a'),
  time: '1700000000',
  tx: txs,
  ...changes,
});
const read = (answer: unknown) => readBlock(answer, { height: 7, hash: hash('b') });
const readTx = (tx: object) =>
  read(block([coinbase, { txid: hash('1'), vin: [input(hash('0'), 3)], vout: [], ...tx }]));

describe('reading a block', () => {
  it('finds transfers and spent outputs, and leaves out coinbase outputs', () => {
    const vout = [output(0, '0.00000001', keyHash('a')), output(1, '21000000.00000000', keyHash('b'))];
    expect(readTx({ vout })).toEqual({
      ref: { height: 7, hash: hash('b'), parent: hash('a'), timeMs: 1_700_000_000_000 },
      transfers: [
        { key: `${hash('1')}:0`, txid: hash('1'), address: 'a', tag: null, contract: null, amount: 1n },
        {
          key: `${hash('1')}:1`,
          txid: hash('1'),
          address: 'b',
          tag: null,
          contract: null,
          amount: 2_100_000_000_000_000n,
        },
      ],
      spends: [{ key: `${hash('0')}:3`, txid: hash('1') }],
    });
  });

  it('reads addresses of old and new node versions, in every form with one owner', () => {
    const forms = ['pubkeyhash', 'scripthash', 'witness_v0_keyhash', 'witness_v0_scripthash', 'witness_v1_taproot'];
    const scripts = forms.flatMap((type) => [
      { type, address: `new ${type}` },
      { type, addresses: [`old ${type}`], reqSigs: '1' },
    ]);
    const { transfers } = readTx({ vout: scripts.map((script, n) => output(n, '1', script)) });
    expect(transfers.map(({ address }) => address)).toEqual(forms.flatMap((type) => [`new ${type}`, `old ${type}`]));
  });

  it('makes no transfer of an output without a single owner', () => {
    const vout = [
      output(0, '1', { type: 'nulldata', hex: '6a' }),
      output(1, '1', { type: 'multisig', addresses: ['a', 'b'], reqSigs: '1' }),
      output(2, '1', { type: 'pubkey', addresses: ['a'] }),
      output(3, '1', { type: 'nonstandard' }),
      output(4, '1', { type: 'witness_mweb_hogaddr' }),
      { ismweb: true, output_id: hash('9') },
    ];
    const vin = [{ ismweb: true, output_id: hash('8') }, input(hash('0'), 1)];
    expect(readTx({ vout, vin })).toMatchObject({ transfers: [], spends: [{ key: `${hash('0')}:1` }] });
  });

  it.each([
    ['no block', null],
    ['another block', block([coinbase], { hash: hash('d') })],
    ['another height', block([coinbase], { height: '8' })],
    ['no time', block([coinbase], { time: undefined })],
    ['a height that went through a float', block([coinbase], { height: 7 })],
    ['no parent', block([coinbase], { previousblockhash: undefined })],
    ['no transactions', block([])],
    ['txids alone', block([hash('c'), hash('1')])],
    ['no list of transactions', block({})],
  ])('refuses %s', (_name, answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });

  it.each([
    ['an amount with nine decimals', { vout: [output(0, '0.000000001', keyHash('a'))] }],
    ['a negative amount', { vout: [output(0, '-1.00000000', keyHash('a'))] }],
    ['an amount with an exponent', { vout: [output(0, '1e8', keyHash('a'))] }],
    ['an amount that went through a float', { vout: [output(0, 0.1, keyHash('a'))] }],
    ['no amount', { vout: [output(0, undefined, keyHash('a'))] }],
    ['an address that is none', { vout: [output(0, '1', { type: 'pubkeyhash' })] }],
    ['no place', { vout: [{ value: '1', scriptPubKey: keyHash('a') }] }],
    ['a txid that is none', { txid: 'x' }],
    ['an input from nowhere', { vin: [{ vout: '1' }] }],
    ['no outputs', { vout: null }],
    ['no inputs', { vin: null }],
  ])('refuses a transaction with %s', (_name, tx) => {
    expect(() => readTx(tx)).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });
});

describe('amounts of nodes', () => {
  it('are whole numbers of the smallest unit, to the last digit', () => {
    expect(parseCoins('0.00000001')).toBe(1n);
    expect(parseCoins('92233720368.54775807')).toBe(9_223_372_036_854_775_807n);
    expect(parseCoins('50')).toBe(5_000_000_000n);
    expect(parseCoins('0.1')).toBe(10_000_000n);
    for (const text of ['', '.1', '1.', '1,0', '+1', '-1', '1e2', '0x1', ' 1', '0.123456789', 1, null]) {
      expect(parseCoins(text)).toBeNull();
    }
    for (const amount of [0n, 1n, 99_999_999n, 100_000_000n, 9_223_372_036_854_775_807n]) {
      expect(parseCoins(fromUnits(amount, 8))).toBe(amount);
    }
  });
});
