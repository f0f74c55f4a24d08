import { call, describeWithAnvil } from '../../support/chains/anvil.ts';
import { toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';
import { encodeRaw, signRaw } from '../../support/chains/tron-node/transaction.ts';
import { toEvm } from '../../support/chains/tron-node/vm.ts';
import { startTron, type TronChain, type TronNode } from '../../support/chains/tron-node.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, whose members the tests check.
type Answer = any;

async function read(node: TronNode, path: string, body: object = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(`${node.config.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

async function ask(node: TronNode, path: string, body: object = {}): Promise<Answer> {
  return JSON.parse((await read(node, path, body)).text);
}

describe('a simulated Tron node that misbehaves', () => {
  let chain: TronChain;
  let node: TronNode;
  let honest: TronNode;
  /** In block 2, of which there are two. */
  let txids: string[];

  beforeEach(async () => {
    chain = startTron({ solidLag: 2 });
    [node, honest] = [await chain.node(), await chain.node()];
    await chain.pay(chain.address(), null, 1n);
    await chain.mine();
    txids = [await chain.pay(chain.address(), null, 5n), await chain.pay(chain.address(), null, 6n)];
    await chain.mine(4);
  });
  afterEach(() => chain.stop());

  const headOf = async (of: TronNode, tree = 'wallet'): Promise<number> => {
    return (await ask(of, `/${tree}/getnowblock`)).block_header.raw_data.number ?? 0;
  };
  const infosOf = (of: TronNode, num = 2): Promise<Answer[]> =>
    ask(of, '/wallet/gettransactioninfobyblocknum', { num });
  const blockOf = (of: TronNode, num = 2): Promise<Answer> => ask(of, '/wallet/getblockbynum', { num });

  function signedTransfer(amount = 5n): string {
    const { id, header } = chain.head;
    const [owner, to] = [chain.bank.address, toHexAddress(chain.address())];
    const raw = encodeRaw(
      { type: 'TransferContract', owner, to, amount, data: new Uint8Array() },
      { reference: id, expiration: header.timestamp + 60_000, timestamp: header.timestamp },
    );
    return Buffer.from(signRaw(raw, chain.bank)).toString('hex');
  }

  it('serves the same chain from several nodes, each with its own faults', async () => {
    node.faults = { lag: 2 };
    expect([await headOf(node), await headOf(honest)]).toEqual([3, 5]);
    expect(await blockOf(node, 4)).toEqual({});
    node.faults = {};
    expect(await blockOf(node, 4)).toEqual(await blockOf(honest, 4));
  });

  it('stays at a block, and serves another chain', async () => {
    node.faults = { stuckAt: 4 };
    await chain.mine(3);
    expect([await headOf(node), await headOf(honest)]).toEqual([4, 8]);
    node.faults = { chain: startTron({ seed: 'another' }) };
    expect((await blockOf(node, 0)).blockID).not.toBe((await blockOf(honest, 0)).blockID);
  });

  it('moves its final head', async () => {
    expect(await headOf(node, 'walletsolidity')).toBe(3);
    for (const [solidShift, number] of [
      [1, 4],
      [2, 5],
      [-1, 2],
    ] as const) {
      node.faults = { solidShift };
      expect(await headOf(node, 'walletsolidity')).toBe(number);
    }
  });

  it('forgets its history', async () => {
    node.faults = { forgetsBelow: 3 };
    expect(await blockOf(node)).toEqual({});
    expect(await ask(node, '/walletsolidity/gettransactioninfobyid', { value: txids[0] })).toEqual({});
    expect(await infosOf(node)).toEqual([]);
    expect(await headOf(node)).toBe(5);
  });

  it('gives false lists of results', async () => {
    const ids = async (infos: NonNullable<TronFaults['infos']>): Promise<string[]> => {
      node.faults = { infos };
      return (await infosOf(node)).map(({ id }) => id);
    };
    const [first, second] = txids;
    const [before] = (await infosOf(honest, 1)).map(({ id }) => id);
    expect(await ids('lack')).toEqual([first]);
    expect(await ids('repeat')).toEqual([first, second, second]);
    expect(await ids('foreign')).toEqual([first, second, before]);
    expect(await ids('other-block')).toEqual([before]);
    expect(await ids('misnumbered')).toEqual([first, second]);
    expect((await infosOf(node)).map(({ blockNumber }) => blockNumber)).toEqual([3, 3]);
    expect(await ids('none')).toEqual([]);
  });

  it('gives blocks whose parts do not fit', async () => {
    const right = await blockOf(honest);
    const parts = ['root', 'id', 'parent', 'signature', 'txid', 'raw'] as const;
    for (const block of parts) {
      node.faults = { block };
      const wrong = await blockOf(node);
      expect(wrong).not.toEqual(right);
      expect(JSON.stringify(wrong)).toHaveLength(JSON.stringify(right).length);
    }
  });

  it('changes between two calls', async () => {
    const { blockID } = await blockOf(node, 5);
    let count = 0;
    node.faults = {
      before: async (path) => {
        count += 1;
        if (path === '/wallet/gettransactioninfobyblocknum') await chain.reorg(1);
      },
    };
    expect((await blockOf(node, 5)).blockID).toBe(blockID);
    await infosOf(node, 5);
    expect((await blockOf(node, 5)).blockID).not.toBe(blockID);
    expect(count).toBe(3);
  });

  it('fails as nodes and those in front of them do', async () => {
    const path = '/wallet/getnowblock';
    const whole = (await read(honest, path)).text;
    const cases: [NonNullable<TronFaults['transport']>, number, string][] = [
      ['busy', 200, '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}'],
      ['lite', 200, 'this API is closed because this node is a lite fullnode'],
      ['half', 200, whole.slice(0, Math.floor((whole.length - 1) / 2))],
      ['empty', 200, ''],
      [429, 429, ''],
      [503, 503, ''],
    ];
    for (const [transport, status, text] of cases) {
      node.faults = { transport };
      expect(await read(node, path)).toEqual({ status, text });
      node.faults = { transport, paths: /walletsolidity/ };
      expect(await read(node, path)).toEqual({ status: 200, text: whole });
    }
    expect((await read(node, '/wallet/nothing')).status).toBe(404);
    expect(node.asked.filter((one) => one === path)).toHaveLength(12);
  });

  it('says one thing of a broadcast, and does another', async () => {
    const cases: [NonNullable<TronFaults['broadcast']>, string, boolean][] = [
      ['dropped', 'SUCCESS', false],
      ['dup-dropped', 'DUP_TRANSACTION_ERROR', false],
      ['dup-taken', 'DUP_TRANSACTION_ERROR', true],
      ['expired-taken', 'TRANSACTION_EXPIRATION_ERROR', true],
      ['error-taken', 'OTHER_ERROR', true],
      ['SERVER_BUSY', 'SERVER_BUSY', false],
      ['NO_CONNECTION', 'NO_CONNECTION', false],
      ['BLOCK_UNSOLIDIFIED', 'BLOCK_UNSOLIDIFIED', false],
    ];
    for (const [fault, code, isTaken] of cases) {
      node.faults = { broadcast: fault };
      const { txid, ...answer } = await ask(node, '/wallet/broadcasthex', { transaction: signedTransfer() });
      expect(answer).toMatchObject({ code, result: code === 'SUCCESS' });
      await chain.mine();
      expect(chain.blockOf(txid) !== null).toBe(isTaken);
    }
  });

  it('shows what waits as if a block held it', async () => {
    const { txid } = await ask(honest, '/wallet/broadcasthex', { transaction: signedTransfer() });
    const byId = (of: TronNode): Promise<Answer> => ask(of, '/wallet/gettransactionbyid', { value: txid });
    const pending = await ask(honest, '/wallet/gettransactionfrompending', { value: txid });
    expect(pending.ret).toEqual([{ contractRet: 'SUCCESS' }]);
    expect(await byId(honest)).toEqual({});
    node.faults = { pool: 'as-mined' };
    expect(await byId(node)).toEqual(pending);
    chain.drop(txid);
    expect(await byId(node)).toEqual({});
  });

  it('writes numbers and texts that a test does not expect', async () => {
    node.faults = { huge: true };
    const body = { value: txids[0] };
    expect((await read(node, '/wallet/gettransactioninfobyid', body)).text).toContain('"fee":9223372036854775807,');
    node.faults = { texts: 'odd' };
    const refused = await ask(node, '/wallet/broadcasthex', { transaction: signedTransfer(0n) });
    expect(refused.message).toContain('</script>');
    node.faults = { texts: 'long' };
    expect((await ask(node, '/wallet/getaccount', { address: 'xyz' })).Error).toHaveLength(1_000_000);
    node.faults = { rewrite: (path, answer) => (path.endsWith('getnowblock') ? [answer] : answer) };
    expect(await ask(node, '/wallet/getnowblock')).toHaveLength(1);
  });
});

describeWithAnvil('a simulated Tron node that misbehaves about contracts', () => {
  it('changes logs, shows them for calls that failed, and costs more energy than before', async () => {
    const chain = startTron();
    try {
      const [node, honest] = [await chain.node(), await chain.node()];
      const usdt = await chain.deployToken();
      const infoOf = (of: TronNode, value: string): Promise<Answer> => {
        return ask(of, '/wallet/gettransactioninfobyid', { value });
      };
      const paid = await chain.pay(chain.address(), usdt, 5n);
      const failed = await chain.pay(chain.address(), usdt, 10n ** 30n);
      await chain.mine();
      node.faults = { log: (log) => ({ ...log, data: `${'f'.repeat(63)}5` }) };
      expect((await infoOf(node, paid)).log).toHaveLength(1);
      expect((await infoOf(node, paid)).log).not.toEqual((await infoOf(honest, paid)).log);
      node.faults = { log: () => null };
      expect(await infoOf(node, paid)).not.toHaveProperty('log');
      node.faults = { logsOfFailures: true };
      const { log, receipt } = await infoOf(node, failed);
      expect([receipt.result, BigInt(`0x${log[0].data}`)]).toEqual(['REVERT', 10n ** 30n]);
      expect(await infoOf(honest, failed)).not.toHaveProperty('log');

      const body = {
        ...{ owner_address: chain.bank.address, contract_address: toHexAddress(usdt) },
        data: call('transfer', toEvm(toHexAddress(chain.address())), 5n).slice(2),
      };
      const estimate = (of: TronNode): Promise<Answer> => ask(of, '/wallet/estimateenergy', body);
      const { energy_required: energy } = await estimate(honest);
      node.faults = { penalty: 1_000n };
      expect(await estimate(node)).toEqual({ result: { result: true }, energy_required: energy + 1_000 });
      const trial = await ask(node, '/wallet/triggerconstantcontract', body);
      expect(trial).toMatchObject({ energy_used: energy + 1_000, energy_penalty: 1_000 });
      node.faults = { estimates: false };
      expect(await estimate(node)).toMatchObject({ result: { code: 'CONTRACT_VALIDATE_ERROR' } });
    } finally {
      await chain.stop();
    }
  });
});
