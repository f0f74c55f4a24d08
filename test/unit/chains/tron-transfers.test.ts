import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { tronAddress } from '../../../src/chains/addresses/tron.ts';
import type { Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { bytesField, joinBytes, messageField, numberField } from '../../../src/chains/tron/protobuf.ts';
import { transferTopic } from '../../../src/chains/tron/trc20.ts';
import { readInfo, type TronBlock, type TronBlockTx, type TronInfo } from '../../../src/chains/tron/tron-answer.ts';
import { txidOf } from '../../../src/chains/tron/tron-proof.ts';
import { transfersOf, type WatchedTokens } from '../../../src/chains/tron/tron-transfers.ts';
import { encodeTronTx, type TronTx } from '../../../src/chains/tron/tron-tx.ts';

const ours = `41${'0a'.repeat(20)}`;
const sender = `41${'0b'.repeat(20)}`;
const contract = `41${'0c'.repeat(20)}`;
const usdt = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';
const fake = `41${'fa'.repeat(20)}`;
const tokens: WatchedTokens = new Map([[usdt, tronAddress(usdt)]]);
const timeMs = 1_777_445_121_000;
const height = 66_987_565;

const order: TronTx = {
  refBlockBytes: '1d00',
  refBlockHash: '081a3fe1f1440f1d',
  expiresAtMs: timeMs + 60_000,
  builtAtMs: timeMs,
  feeLimit: 0n,
  owner: sender,
  contract: null,
  to: ours,
  amount: 5_000_000n,
};

/** A transaction of a kind that this code does not build. */
function rawOf(type: bigint, name: string, ...value: Uint8Array[]): Uint8Array {
  const any = [bytesField(1, utf8ToBytes(`type.googleapis.com/protocol.${name}`)), messageField(2, ...value)];
  return messageField(11, numberField(1, type), messageField(2, ...any));
}

const call = rawOf(31n, 'TriggerSmartContract', bytesField(1, hexToBytes(sender)), bytesField(2, hexToBytes(contract)));

function log({
  by = usdt,
  to = ours,
  amount = 7_000_000n,
  topics,
  data,
}: {
  readonly by?: string;
  readonly to?: string;
  readonly amount?: bigint;
  readonly topics?: readonly string[];
  readonly data?: string;
} = {}) {
  const word = (digits: string) => digits.padStart(64, '0');
  return {
    address: by.slice(2),
    topics: topics ?? [transferTopic, word(sender.slice(2)), word(to.slice(2))],
    data: data ?? word(amount.toString(16)),
  };
}

function internal(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    hash: 'ab'.repeat(32),
    caller_address: contract,
    transferTo_address: ours,
    callValueInfo: [{ callValue: '3000000' }],
    note: bytesToHex(utf8ToBytes('call')),
    ...changes,
  };
}

interface Told {
  readonly raw?: Uint8Array;
  /** As the block states it; null when it states nothing. */
  readonly result?: string | null;
  /** As the result states it. */
  readonly receipt?: string | undefined;
  readonly logs?: readonly unknown[];
  readonly internals?: readonly unknown[];
}

function blockOf(list: readonly Told[]): { readonly block: TronBlock; readonly infos: Map<string, TronInfo> } {
  const transactions: TronBlockTx[] = list.map(({ raw = call, result = 'SUCCESS' }) => {
    return { txid: txidOf(raw), raw, result };
  });
  const ref = { height, hash: 'aa'.repeat(32), parent: 'bb'.repeat(32), timeMs };
  const infos = list.map(({ receipt, logs, internals }, index) =>
    readInfo({
      id: transactions[index]?.txid,
      blockNumber: String(height),
      blockTimeStamp: String(timeMs),
      receipt: { net_usage: '267', result: receipt },
      log: logs,
      internal_transactions: internals,
    }),
  );
  return { block: { ref, transactions, hasRoot: true }, infos: new Map(infos.map((info) => [info.txid, info])) };
}

function transfers(list: readonly Told[], isTraced = true): Transfer[] {
  const { block, infos } = blockOf(list);
  return transfersOf(block, infos, { tokens, isTraced });
}

const coinsTx: Told = { raw: encodeTronTx(order) };
const ok = { receipt: 'SUCCESS' };

describe('what is a deposit', () => {
  it('coins of a TransferContract, named by the txid and 0', () => {
    const txid = txidOf(encodeTronTx(order));
    const expected = {
      key: `${txid}:0`,
      txid,
      address: tronAddress(ours),
      tag: null,
      contract: null,
      amount: 5_000_000n,
    };
    expect(transfers([coinsTx])).toEqual([expected]);
  });

  it('tokens of a watched contract, named by the place of their log and a digest', () => {
    const [found, ...others] = transfers([{ ...ok, logs: [log()] }]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ address: tronAddress(ours), contract: tronAddress(usdt), amount: 7_000_000n });
    expect(found?.key).toMatch(new RegExp(`^${txidOf(call)}:log0:[0-9a-f]{16}$`));
  });

  it('coins that a contract sent on, named by their place among these and a digest', () => {
    const told = { ...ok, internals: [internal({ transferTo_address: sender }), internal()] };
    const found = transfers([told]);
    expect(found.map(({ key }) => key.split(':')[1])).toEqual(['trace0', 'trace1']);
    expect(found[1]).toMatchObject({ address: tronAddress(ours), contract: null, amount: 3_000_000n });
    expect(transfers([told], false)).toEqual([]);
  });

  it('coins and tokens with a memo and a permission', () => {
    const memo = joinBytes(bytesField(10, utf8ToBytes('invoice 7')), encodeTronTx(order));
    expect(transfers([{ raw: memo }])).toHaveLength(1);
  });

  it('amounts beyond 2^53', () => {
    const large = { ...order, amount: 2n ** 63n - 1n };
    expect(transfers([{ raw: encodeTronTx(large) }])[0]?.amount).toBe(2n ** 63n - 1n);
    const values = { callValueInfo: [{ callValue: '9223372036854775807' }] };
    expect(transfers([{ ...ok, internals: [internal(values)] }])[0]?.amount).toBe(2n ** 63n - 1n);
    expect(transfers([{ ...ok, logs: [log({ amount: 2n ** 256n - 1n })] }])[0]?.amount).toBe(2n ** 256n - 1n);
  });

  it('keeps its key in another block, and has another key when the contract did another thing', () => {
    const key = (amount: bigint) => transfers([coinsTx, { ...ok, logs: [log({ amount })] }])[1]?.key;
    expect(key(7n)).toBe(transfers([{ ...ok, logs: [log({ amount: 7n })] }])[0]?.key);
    expect(key(7n)).not.toBe(key(8n));
  });
});

/** What must give no deposit. Names are those of the table of cases. */
describe('what is no deposit', () => {
  const transferAsset = rawOf(
    2n,
    'TransferAssetContract',
    bytesField(1, utf8ToBytes('1000001')),
    bytesField(2, hexToBytes(sender)),
    bytesField(3, hexToBytes(ours)),
    numberField(4, 9n),
  );
  const amounts = { tokenId: '1000001', callValue: '9' };
  const approval = '8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
  const word = (digits: string) => digits.padStart(64, '0');
  const cases: [string, Told][] = [
    ['a token of the same name sends a Transfer', { ...ok, logs: [log({ by: fake })] }],
    [
      'approve in our favour',
      { ...ok, logs: [log({ topics: [approval, word(sender.slice(2)), word(ours.slice(2))] })] },
    ],
    ...['REVERT', 'OUT_OF_ENERGY', 'OUT_OF_TIME', 'UNKNOWN', 'TRANSFER_FAILED'].map((result): [string, Told] => [
      `a call that ends as ${result} and shows logs and values`,
      { result, receipt: result, logs: [log()], internals: [internal()] },
    ]),
    [
      'an internal transfer that is rejected in a transaction that succeeded',
      { ...ok, internals: [internal({ rejected: true })] },
    ],
    ['transferFrom of 0 to poison histories', { ...ok, logs: [log({ amount: 0n })] }],
    ['TRC-10: a TransferAssetContract', { raw: transferAsset }],
    ['TRC-10: a token in an internal call', { ...ok, internals: [internal({ callValueInfo: [{}, amounts] })] }],
    ['a transfer that the block does not call a success', { ...coinsTx, result: 'REVERT' }],
    ['a transfer whose result the block leaves out', { ...coinsTx, result: null }],
    ['tokens without a result of their call', { logs: [log()], internals: [internal()] }],
    ['a Transfer of an NFT', { ...ok, logs: [log({ topics: [...log().topics, word('7')] })] }],
    ['a Transfer with two numbers', { ...ok, logs: [log({ data: word('7') + word('7') })] }],
    ['a Transfer without a number', { ...ok, logs: [log({ data: '' })] }],
    ['a Transfer without topics', { ...ok, logs: [log({ topics: [] })] }],
    ['a Transfer to more than an address', { ...ok, logs: [log({ topics: [transferTopic, word('1'), word(ours)] })] }],
    ...['freezeBalanceV2ForEnergy', 'delegateResourceOfEnergy', 'unDelegateResourceOfBandwidth', 'voteWitness'].map(
      (note): [string, Told] => [
        `an internal record of ${note}, which states an amount`,
        { ...ok, internals: [internal({ note: bytesToHex(utf8ToBytes(note)) })] },
      ],
    ),
    ['an internal call without coins', { ...ok, internals: [internal({ callValueInfo: [{}] })] }],
    ['an internal call without values', { ...ok, internals: [internal({ callValueInfo: undefined })] }],
    ['a transfer of nothing', { raw: encodeTronTx({ ...order, amount: 0n }) }],
    ['a transfer of less than nothing', { raw: encodeTronTx({ ...order, amount: -1n }) }],
    [
      'a transfer to no address',
      { raw: rawOf(1n, 'TransferContract', bytesField(2, hexToBytes('0a0b')), numberField(3, 9n)) },
    ],
    [
      'a type that contradicts its name',
      { raw: rawOf(2n, 'TransferContract', bytesField(2, hexToBytes(ours)), numberField(3, 9n)) },
    ],
    [
      'a name that contradicts its type',
      { raw: rawOf(1n, 'VoteWitnessContract', bytesField(2, hexToBytes(ours)), numberField(3, 9n)) },
    ],
    ['two contracts', { raw: joinBytes(encodeTronTx(order), rawOf(1n, 'TransferContract')) }],
    ['bytes that cannot be read', { raw: Uint8Array.of(0xff, 0xff, 0xff) }],
    ['no bytes', { raw: new Uint8Array() }],
  ];

  it.each(cases)('%s', (_name, told) => {
    expect(transfers([told])).toEqual([]);
  });

  it.each(cases)('%s, together with one that is a deposit', (_name, told) => {
    const other = { ...coinsTx, raw: encodeTronTx({ ...order, amount: 1n }) };
    expect(transfers([other, told]).map(({ amount }) => amount)).toEqual([1n]);
  });
});

describe('cases that are told apart', () => {
  it('two logs to one address in one transaction have two keys', () => {
    const [first, second, ...others] = transfers([{ ...ok, logs: [log(), log({ by: fake }), log()] }]);
    expect(others).toEqual([]);
    expect(first?.key).toContain(':log0:');
    expect(second?.key).toContain(':log2:');
    expect(second?.amount).toBe(first?.amount);
  });

  it('two equal internal transfers have two keys, and rejected or staking ones do not move them', () => {
    const told = { ...ok, internals: [internal(), internal()] };
    const others = [internal({ rejected: true }), internal({ note: bytesToHex(utf8ToBytes('voteWitness')) })];
    const keys = transfers([told]).map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    expect(transfers([{ ...told, internals: [...others, ...told.internals] }]).map(({ key }) => key)).toEqual(keys);
  });

  it('USDT returns false from a transfer that worked: the log decides', () => {
    expect(transfers([{ ...ok, logs: [log()] }])).toHaveLength(1);
  });

  it('USDT sets its fee above 0: the deposit is the amount of the log', () => {
    const found = transfers([{ ...ok, logs: [log({ amount: 6_990_000n }), log({ to: contract, amount: 10_000n })] }]);
    expect(found.filter(({ address }) => address === tronAddress(ours)).map(({ amount }) => amount)).toEqual([
      6_990_000n,
    ]);
  });

  it('an internal call of an unknown kind is shown and not credited', () => {
    const [found] = transfers([{ ...ok, internals: [internal({ note: bytesToHex(utf8ToBytes('callNew')) })] }]);
    expect(found).toMatchObject({ amount: 3_000_000n, doubt: 'unknown_call' });
    const kinds = ['call', 'create', 'suicide'].map((note) => internal({ note: bytesToHex(utf8ToBytes(note)) }));
    expect(transfers([{ ...ok, internals: kinds }]).filter(({ doubt }) => doubt !== undefined)).toEqual([]);
  });

  it.each([
    undefined,
    '',
    '41',
    5,
    `42${'0a'.repeat(20)}`,
    { a: 1 },
  ])('an internal call of an unknown kind to %j does not stop the scan', (transferTo_address) => {
    const unknown = internal({ note: bytesToHex(utf8ToBytes('stakeNext')), transferTo_address });
    const found = transfers([{ ...ok, internals: [unknown, internal()] }]);
    expect(found.map(({ address, amount }) => [address, amount])).toEqual([[tronAddress(ours), 3_000_000n]]);
  });

  it('each of 10,000 logs of one transaction has a separate key', () => {
    const logs = Array.from({ length: 10_000 }, () => log({ amount: 1n }));
    const found = transfers([{ ...ok, logs }]);
    expect(new Set(found.map(({ key }) => key)).size).toBe(10_000);
  });

  it('hexadecimal digits in upper case are the same', () => {
    const upper = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replace(/"[0-9a-f]{8,}"/g, (hex) => hex.toUpperCase()));
    const told = { logs: [log()], internals: [internal()] };
    const loud = { logs: [upper(told.logs[0])], internals: [upper(told.internals[0])] };
    expect(loud).not.toEqual(told);
    expect(transfers([{ ...ok, ...loud }])).toEqual(transfers([{ ...ok, ...told }]));
  });
});

describe('answers that contradict themselves are faults', () => {
  it.each<[string, Told]>([
    [
      'a call that the block calls a failure and its result a success',
      { result: 'REVERT', receipt: 'SUCCESS', logs: [log()] },
    ],
    ['a call that the block calls a success and its result a failure', { receipt: 'REVERT', logs: [log()] }],
    ['a log without its contract', { ...ok, logs: [{ ...log(), address: undefined }] }],
    ['a log with an address in base58', { ...ok, logs: [{ ...log(), address: tronAddress(usdt) }] }],
    ['a log that is no object', { ...ok, logs: ['log'] }],
    ['a topic of another size', { ...ok, logs: [log({ topics: [transferTopic, '00'] })] }],
    ['data that is no bytes', { ...ok, logs: [log({ data: '0' })] }],
    ['an internal amount below 0', { ...ok, internals: [internal({ callValueInfo: [{ callValue: -5 }] })] }],
    ['an internal amount with a fraction', { ...ok, internals: [internal({ callValueInfo: [{ callValue: '1e3' }] })] }],
    [
      'an internal amount beyond 63 bits',
      { ...ok, internals: [internal({ callValueInfo: [{ callValue: '9223372036854775808' }] })] },
    ],
    [
      'an internal amount of a million digits',
      { ...ok, internals: [internal({ callValueInfo: [{ callValue: '9'.repeat(1e6) }] })] },
    ],
    ['an internal amount below 0', { ...ok, internals: [internal({ callValueInfo: [{ callValue: '-1' }] })] }],
    ['a rejection that is neither yes nor no', { ...ok, internals: [internal({ rejected: 'true' })] }],
    ['an internal call without its recipient', { ...ok, internals: [internal({ transferTo_address: undefined })] }],
  ])('%s', (_name, told) => {
    expect(() => transfers([told])).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });

  it('a missing result', () => {
    const { block } = blockOf([coinsTx]);
    expect(() => transfersOf(block, new Map(), { tokens, isTraced: false })).toThrow('no result of a transaction');
  });
});
