import { randomBytes } from 'node:crypto';
import type { ChainAdapter } from '../../../src/chains/chain-adapter.ts';
import { Sweeper } from '../../../src/settlement/sweeper.ts';
import { type SettledGateway, startSettledGateway } from '../../support/settled-gateway.ts';

let gateway: SettledGateway;

beforeEach(async () => {
  gateway = await startSettledGateway();
});

afterEach(() => gateway.stop());

/** Credited deposits on addresses of ours, each an output of its own. */
async function depositOutputs(count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, index) => `${randomBytes(32).toString('hex')}:${index}`);
  await gateway.query(
    `insert into own_output (chain, key, address, amount, index, height, block_hash)
     select 'litecoin', key, 'an address', 100000000, 1, 1, 'a block' from unnest($1::text[]) as key`,
    [keys],
  );
  await gateway.query(
    `insert into deposit (id, chain, key, txid, address, coin, network, amount, state, height, block_hash,
                          confirmations_required, seen_at, mined_at, credited_at, credits)
     select gen_random_uuid(), 'litecoin', key, split_part(key, ':', 1), 'an address', 'LTC', 'LTC', 1, 'credited', 1,
            'a block', 1, now(), now(), now(), 1 from unnest($1::text[]) as key`,
    [keys],
  );
}

describe('sweeps of a chain of outputs', () => {
  it('take all of many deposits, some at a time', async () => {
    await depositOutputs(150);
    await gateway.tick();
    const [lease] = await gateway.query<{ chain: string; fence: string }>(
      `select chain, fence::text as fence from chain_state where chain = 'litecoin'`,
    );
    const hot = await gateway.settlement.adapters.get('litecoin')?.hotWallet();
    const adapter = {
      chain: 'litecoin',
      model: 'outputs',
      finalityDepth: 1,
      hotWallet: async () => hot,
    } as unknown as ChainAdapter;
    const { orm, catalogue } = gateway.app;
    const sweepFrom = new Map([['litecoin', new Map([['LTC', '1']])]]);
    const transfers = { compare: async () => false };
    const sweeper = new Sweeper({ orm, catalogue, clock: gateway.clock, transfers, sweepFrom });
    for (let turn = 0; turn < 10 && lease; turn += 1) await sweeper.run(adapter, lease);
    const [swept] = await gateway.query<{ amount: string; outputs: number; deposits: number }>(
      `select trim_scale(sum(amount))::text as amount, sum(cardinality(sources))::int as outputs,
              (select count(*)::int from deposit where swept_by is not null) as deposits
         from payment where kind = 'sweep'`,
    );
    expect(swept).toEqual({ amount: '150', outputs: 150, deposits: 150 });
  });
});
