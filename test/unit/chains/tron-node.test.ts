import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { HttpNode } from '../../../src/chains/nodes/http-node.ts';
import { TronNode } from '../../../src/chains/tron/tron-node.ts';
import { TronWire } from '../../support/chains/tron-wire.ts';
import { close, listen } from '../../support/http/local-server.ts';

const address = `41${'0a'.repeat(20)}`;
const txid = 'ab'.repeat(32);

function asking(answer: unknown): TronNode {
  return new TronNode(new TronWire(() => answer));
}

const unsound = expect.objectContaining({ code: 'unsound_answer' });
/** A recorded header of Nile, as a node answers it. */
const [recorded] = (
  JSON.parse(readFileSync('test/fixtures/tron/blocks.json', 'utf8')) as {
    blockID: string;
    block_header: { raw_data: Record<string, unknown> };
  }[]
).filter(({ blockID }) => blockID.startsWith('0000000003fe262d'));
if (!recorded) throw new Error('no recorded block');
const height = 66_987_565;

function headed(changes: Readonly<Record<string, unknown>>) {
  return { ...recorded, block_header: { raw_data: { ...recorded?.block_header.raw_data, ...changes } } };
}

describe('the calls', () => {
  it.each<[string, (node: TronNode) => Promise<unknown>, string, unknown]>([
    ['the newest block', (node) => node.head('newest'), 'wallet/getblock', { detail: false }],
    ['the newest solid block', (node) => node.head('solid'), 'walletsolidity/getblock', { detail: false }],
    ['a header', (node) => node.header(7), 'wallet/getblock', { id_or_num: '7', detail: false }],
    ['a block', (node) => node.block(7), 'wallet/getblock', { id_or_num: '7', detail: true }],
    ['a result', (node) => node.info(txid, 'solid'), 'walletsolidity/gettransactioninfobyid', { value: txid }],
    ['a transaction', (node) => node.transaction(txid, 'newest'), 'wallet/gettransactionbyid', { value: txid }],
    ['an account', (node) => node.account(address, 'solid'), 'walletsolidity/getaccount', { address, visible: false }],
    ['resources', (node) => node.resources(address), 'wallet/getaccountresource', { address, visible: false }],
    ['a broadcast', (node) => node.broadcast('0a'), 'wallet/broadcasthex', { transaction: '0a' }],
    [
      'a trial',
      (node) => node.trial({ owner: address, contract: address, data: 'a9' }),
      'wallet/triggerconstantcontract',
      { owner_address: address, contract_address: address, data: 'a9', visible: false },
    ],
    ['prices', (node) => node.prices(), 'wallet/getchainparameters', {}],
  ])('ask for %s', async (_what, ask, path, body) => {
    const wire = new TronWire(() => ({}));
    await ask(new TronNode(wire)).catch(() => {});
    expect(wire.asked).toEqual([{ path, body }]);
  });

  it.each<[string, unknown, string]>([
    ['a refusal', { Error: 'class java.lang.Exception : no such thing' }, 'node_refused'],
    ['an overloaded node', { Error: 'java.lang.RuntimeException: lack of computing resources' }, 'busy'],
    ['a refusal that is no text', { Error: { code: 7 } }, 'node_refused'],
    ['nothing', null, 'unsound_answer'],
    ['a list', [], 'unsound_answer'],
    ['a text', 'lite node', 'unsound_answer'],
  ])('make %s in HTTP 200 a fault of the node', async (_what, answer, code) => {
    const node = asking(answer);
    const calls = [
      node.head('newest'),
      node.head('solid'),
      node.header(1),
      node.block(1),
      node.info(txid, 'solid'),
      node.transaction(txid, 'solid'),
      node.account(address, 'solid'),
      node.resources(address),
      node.prices(),
      node.genesis(),
      node.trial({ owner: address, contract: address, data: '' }),
      node.broadcast('0a'),
    ];
    const codes = (await Promise.allSettled(calls)).map((each) => each.status === 'rejected' && each.reason.code);
    expect(codes).toEqual(calls.map(() => code));
  });

  it('shorten the text of a refusal', async () => {
    const error: Error = await asking({ Error: 'x'.repeat(1e6) })
      .head('solid')
      .then(fail, (reason) => reason);
    expect(error.message.length).toBeLessThan(300);
  });
});

function fail(): never {
  throw new Error('this was to be refused');
}

describe('a header', () => {
  it('is read when its id follows from it, in capitals too', async () => {
    const loud = { ...recorded, blockID: recorded.blockID.toUpperCase() };
    for (const answer of [recorded, loud]) {
      expect((await asking(answer).header(height))?.ref).toEqual({
        height,
        hash: recorded.blockID,
        parent: '0000000003fe262c85cd6b02033f4c3e5c1efa35de256a17bd906dc61fb1aeed',
        timeMs: 1_777_445_121_000,
      });
    }
  });

  it('is null where the chain has no such block, and never for the newest', async () => {
    expect(await asking({}).header(7)).toBeNull();
    expect(await asking({}).block(7)).toBeNull();
    await expect(asking({}).head('newest')).rejects.toEqual(unsound);
  });

  it('is a fault when it is of another height', async () => {
    await expect(asking(recorded).header(height + 1)).rejects.toThrow(/block 66987565 when asked for block 66987566/);
  });

  it.each<[string, unknown]>([
    ['another time', headed({ timestamp: '1777445121001' })],
    ['another parent', headed({ parentHash: '00'.repeat(32) })],
    ['another root', headed({ txTrieRoot: '00'.repeat(32) })],
    ['another producer', headed({ witness_address: address })],
    ['another version', headed({ version: '35' })],
    ['a root of accounts', headed({ accountStateRoot: '00'.repeat(32) })],
    ['another id', { ...recorded, blockID: recorded.blockID.replace(/.$/, '0') }],
    ['no id', { ...recorded, blockID: undefined }],
    ['no header', { blockID: recorded.blockID }],
    ['a number as a number', headed({ number: { toString: () => String(height) } })],
    ['a time in the year 10000', headed({ timestamp: '253402300800000' })],
    ['a height beyond what the database holds', headed({ number: '2147483648' })],
    ['a number of a million digits', headed({ timestamp: '1'.repeat(1e6) })],
    ['a number in hexadecimal digits', headed({ timestamp: '0x10' })],
    ['a number with a sign', headed({ timestamp: '+5' })],
    ['an exponent', headed({ timestamp: '1e3' })],
  ])('with %s is a fault', async (_what, answer) => {
    await expect(asking(answer).header(height)).rejects.toEqual(unsound);
  });
});

describe('an account', () => {
  it('is read, with a balance of 0 left out', async () => {
    const owner_permission = { permission_name: 'owner', threshold: 1, keys: [{ address, weight: 1 }] };
    expect(await asking({ address, owner_permission }).account(address, 'solid')).toEqual({
      balance: 0n,
      isContract: false,
      owners: { threshold: 1n, keys: [{ address, weight: 1n }] },
    });
    expect(await asking({ address, balance: '9007199254740993' }).account(address, 'solid')).toEqual({
      balance: 9_007_199_254_740_993n,
      isContract: false,
      owners: null,
    });
  });

  it('is null when it does not exist, and a fault when it is another', async () => {
    expect(await asking({}).account(address, 'newest')).toBeNull();
    const other = { address: `41${'0b'.repeat(20)}`, balance: '5' };
    await expect(asking(other).account(address, 'newest')).rejects.toEqual(unsound);
  });

  it('has resources that are never below 0', async () => {
    const answer = { freeNetLimit: '600', freeNetUsed: '267', NetLimit: '5', NetUsed: '9', EnergyLimit: '1000' };
    expect(await asking(answer).resources(address)).toEqual({ freeBandwidth: 333n, bandwidth: 0n, energy: 1_000n });
    expect(await asking({}).resources(address)).toEqual({ freeBandwidth: 0n, bandwidth: 0n, energy: 0n });
  });
});

describe('prices', () => {
  const keys = {
    getEnergyFee: '100',
    getTransactionFee: '1000',
    getCreateNewAccountFeeInSystemContract: '1000000',
    getCreateAccountFee: '100000',
    getMaxFeeLimit: '15000000000',
  };
  const told = (parameters: Readonly<Record<string, string | undefined>>) =>
    asking({ chainParameter: Object.entries(parameters).map(([key, value]) => ({ key, value })) });

  it('are those of the chain', async () => {
    expect(await told({ ...keys, getAllowSomething: '-1' }).prices()).toEqual({
      energy: 100n,
      bandwidth: 1_000n,
      newAccount: 1_000_000n,
      newAccountBandwidth: 100_000n,
      maxFeeLimit: 15_000_000_000n,
    });
    expect((await told({ ...keys, getEnergyFee: undefined }).prices()).energy).toBe(0n);
  });

  it.each(Object.keys(keys))('without %s are a fault', async (key) => {
    const { [key as keyof typeof keys]: _left, ...others } = keys;
    await expect(told(others).prices()).rejects.toEqual(unsound);
  });
});

describe('a trial', () => {
  const sound = {
    result: { result: true },
    energy_used: 64_285,
    energy_penalty: 49_635,
    constant_result: [`${'00'.repeat(31)}01`],
    transaction: { ret: [{}] },
  };
  const trial = (answer: unknown) => asking(answer).trial({ owner: address, contract: address, data: '' });

  it('tells what a call would use and return', async () => {
    expect(await trial(sound)).toEqual({
      succeeds: true,
      energy: 64_285n,
      penalty: 49_635n,
      logs: [],
      returned: `${'00'.repeat(31)}01`,
    });
  });

  it.each<[string, unknown]>([
    ['its transaction', { ...sound, transaction: { ret: [{ ret: 'FAILED' }] } }],
    ['a message', { ...sound, result: { result: true, message: '524556455254206f70636f6465206578656375746564' } }],
    ['a code', { result: { code: 'CONTRACT_VALIDATE_ERROR', message: '00' } }],
    ['no yes', { ...sound, result: {} }],
  ])('tells a failure by %s', async (_what, answer) => {
    expect((await trial(answer)).succeeds).toBe(false);
  });
});

describe('a broadcast', () => {
  it.each<[unknown, string, string | null]>([
    [{ result: true, txid }, 'accepted', null],
    [{ code: 'DUP_TRANSACTION_ERROR', txid, message: '44' }, 'known', 'DUP_TRANSACTION_ERROR'],
    [{ code: 'SERVER_BUSY' }, 'uncertain', 'SERVER_BUSY'],
    [{ code: 'NO_CONNECTION' }, 'uncertain', 'NO_CONNECTION'],
    [{ code: 'NOT_ENOUGH_EFFECTIVE_CONNECTION' }, 'uncertain', 'NOT_ENOUGH_EFFECTIVE_CONNECTION'],
    [{ code: 'BLOCK_UNSOLIDIFIED' }, 'uncertain', 'BLOCK_UNSOLIDIFIED'],
    [{ code: 'TAPOS_ERROR', result: false }, 'rejected', 'TAPOS_ERROR'],
    [{ code: 'TRANSACTION_EXPIRATION_ERROR' }, 'rejected', 'TRANSACTION_EXPIRATION_ERROR'],
    [{ code: 'CONTRACT_VALIDATE_ERROR' }, 'rejected', 'CONTRACT_VALIDATE_ERROR'],
    [{ code: 'toString' }, 'rejected', 'toString'],
  ])('answered with %j is a hint', async (answer, outcome, code) => {
    expect(await asking(answer).broadcast('0a')).toEqual({ outcome, code });
  });

  it.each([
    {},
    { result: 'true' },
    { code: 'x'.repeat(100) },
    { code: '<b>' },
  ])('answered with %j is a fault', async (answer) => {
    await expect(asking(answer).broadcast('0a')).rejects.toEqual(unsound);
  });
});

describe('the result of a transaction', () => {
  it('is null when the node has none, and a fault when it is of another', async () => {
    expect(await asking({}).info(txid, 'solid')).toBeNull();
    expect(await asking({}).transaction(txid, 'newest')).toBeNull();
    const other = { id: 'cd'.repeat(32), blockNumber: '7', blockTimeStamp: '9' };
    await expect(asking(other).info(txid, 'solid')).rejects.toEqual(unsound);
    const info = await asking({ ...other, id: txid.toUpperCase() }).info(txid, 'solid');
    expect(info).toMatchObject({ txid, height: 7, timeMs: 9, fee: 0n, result: null });
  });
});

describe('over HTTP', () => {
  /** A node at a path with a key in its query, which answers with a text. */
  async function served<T>(answer: string, ask: (node: TronNode, asked: string[]) => Promise<T>): Promise<T> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end(answer);
    });
    const url = `http://127.0.0.1:${await listen(server)}/tron/?key=1`;
    const http = new HttpNode({ url, user: null, password: null, headers: {} }, { longNumbersAsText: true });
    try {
      return await ask(new TronNode(http), asked);
    } finally {
      await close(server);
    }
  }

  it('no amount passes through a float', async () => {
    const text = `{"address":"${address}","balance":9007199254740993}`;
    await served(text, async (node, asked) => {
      expect((await node.account(address, 'solid'))?.balance).toBe(9_007_199_254_740_993n);
      expect(asked).toEqual(['POST /tron/walletsolidity/getaccount?key=1']);
    });
  });

  it('a whole amount is read in every form of a JSON number', async () => {
    for (const balance of ['100', '100.0', '1e2', '1E+2', '0.1e3']) {
      const text = `{"address":"${address}","balance":${balance}}`;
      await served(text, async (node) => expect((await node.account(address, 'solid'))?.balance).toBe(100n));
    }
  });

  it('amounts with a fraction are faults', async () => {
    for (const balance of ['1.5', '1e-3', '-1', '-1e3', '9223372036854775808', '1e19', '"1.5"', 'null', 'true', '[]']) {
      const text = `{"address":"${address}","balance":${balance}}`;
      await served(text, (node) => expect(node.account(address, 'solid')).rejects.toEqual(unsound));
    }
  });

  it('the bare sentence of a lite node is its fault', async () => {
    const sentence = 'this API is closed because this node is a lite fullnode';
    await served(sentence, (node) => expect(node.info(txid, 'solid')).rejects.toThrow(/this API is closed/));
  });
});
