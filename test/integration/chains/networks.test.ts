import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createOrm } from '../../../src/app/orm.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { readNetworks } from '../../../src/chains/families/network-file.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { writeTokenContracts } from '../../../src/settlement/scan/token-contracts.ts';
import { describeWithAnvil, startAnvil } from '../../support/chains/anvil.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';
import {
  anvil,
  cli,
  cliWith,
  database,
  ethereum,
  folder,
  limits,
  litecoin,
  networksFile,
  refusal,
  settings,
  start,
  usdt,
  withRealNode,
} from '../../support/chains/network-starts.ts';
import { createDatabase, query } from '../../support/database/database.ts';
import { Refusal } from '../../support/http/refusal.ts';

withRealNode();

describeWithAnvil('a check before the first start', () => {
  it('asks the signer and the nodes, and says why there are no wallets', async () => {
    const checked = await cli('network', 'check', '--chain', 'ethereum');
    expect(checked.output).toMatch(
      /^signer +\S+signer.sock\nfingerprint +[0-9a-f]{16}\nsigns_for +ethereum\nproblem +-\n/,
    );
    expect(checked.output).toContain('no wallets: the first start of a worker writes them');
    expect(checked.errors).toMatch(
      /^asking the signer and the nodes of ethereum; a node that hangs is skipped after 5 s\n$/,
    );
    expect(checked.code).toBe(0);
  });
});

describeWithAnvil('a first start on real networks', () => {
  it('is refused without a signer process, before anything is done', async () => {
    expect(await refusal({ settings: { SIGNER_SOCKET: '' } })).toMatch(
      /^SIGNER_SOCKET is not set, and live networks \(ethereum, litecoin\) need a signer process.*a good value: /,
    );
    expect(await query(database.url, `select 1 from pg_tables where tablename = 'currency'`)).toEqual([]);
  });

  it('is refused with every fault that no waiting mends, of all nodes at once', async () => {
    const odd = await anvil.deployToken(9);
    const other = await startAnvil({ chainId: 1337 });
    try {
      const networks = {
        ethereum: ethereum({
          nodes: [{ url: anvil.url }, { url: other.url }],
          tokens: { USDT: odd, USDC: addressExample('ETH') },
          limits: { ETH: limits, USDT: limits, USDC: limits },
        }),
        litecoin,
      };
      const [first, second, third, ...rest] = (await refusal({ networks })).split('\n');
      expect(first).toContain("has a token of 9 decimals at tokens.USDT, and the catalogue's USDT has 6");
      expect(second).toContain(`${anvil.url} has no contract at tokens.USDC`);
      expect(third).toBe(
        `networks.ethereum: the node at ${other.url} is a node of chain 1337, and the settings say 31337`,
      );
      expect(rest).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('is refused with a node that keeps no balances as old as the finality asks for', async () => {
    const pruned = await new EvmLiar(anvil.url).start();
    try {
      await anvil.mine(200);
      const states = (await anvil.height()) - 128;
      pruned.lie = (method, result, params) =>
        method === 'eth_getBalance' && Number(params[1]) < states ? new Refusal(-32000, 'missing trie node') : result;
      const networks = {
        ethereum: ethereum({ nodes: [{ url: pruned.node.url }], finality: 150, reorg_window: 200 }),
        litecoin,
      };
      expect(await refusal({ networks })).toMatch(
        new RegExp(`^networks.ethereum: the node at ${pruned.node.url} keeps no balances .* archive node`),
      );
    } finally {
      await pruned.stop();
    }
  });

  it('is refused while no node returns its EVM chain id', async () => {
    const networks = { ethereum: ethereum({ nodes: [{ url: 'http://127.0.0.1:1/' }] }), litecoin };
    expect(await refusal({ networks })).toContain(
      'networks.ethereum starts for the first time, for which one of its nodes must answer',
    );
    expect(await query(database.url, 'select chain from chain_state')).toEqual([]);
  });

  it('is refused on a database that ran on the sandbox, before anything is done on it', async () => {
    const sandbox = await createDatabase();
    const done = () =>
      query(
        sandbox.url,
        `select (select json_agg(s order by name) from setting s) as settings,
                (select json_agg(to_json(a)::text order by to_json(a)::text) from deposit_account a) as accounts,
                (select count(*)::int from deposit_address) as addresses`,
      );
    const before = await done();
    const told = await refusal({ databaseUrl: sandbox.url });
    expect(await done()).toEqual(before);
    expect(told).toContain('ethereum is the sandbox in this database, and evm:31337 by the settings');
    expect(told).toContain('litecoin is the sandbox in this database, and utxo:530827f38f93b43e');
    expect(told).toContain('set DATABASE_URL to an empty database');
    await sandbox.drop();
  });
});

describeWithAnvil('a gateway on real networks', () => {
  let gateway: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway?.stop());

  it('tells which node it waits for, and starts', () => {
    expect(gateway.told.filter((line) => line.includes('may have to wait'))).toEqual([
      'litecoin may have to wait: the node at http://127.0.0.1:1 does not answer',
    ]);
    expect([...(gateway.app.settlement?.adapters.keys() ?? [])].sort()).toEqual(['ethereum', 'litecoin']);
  });

  it('makes no pools of addresses for networks that are off', async () => {
    expect(gateway.told.filter((line) => line.includes('deposit addresses'))).toEqual([]);
    expect(await query(gateway.databaseUrl, 'select 1 from deposit_address where leased_at is null limit 1')).toEqual(
      [],
    );
  });

  it('offers what its networks carry, and leaves the rows of the rest alone', async () => {
    const { json } = await gateway.call('GET', '/currencies');
    expect(json.map((row: { coin: string; network: string }) => `${row.coin}/${row.network}`).sort()).toEqual([
      'ETH/ETH',
      'LTC/LTC',
      'USDT/ERC20',
    ]);
    const [row] = await query(
      gateway.databaseUrl,
      `select count(*) filter (where is_active)::int as active, count(*)::int as all,
              max(contract) filter (where coin = 'USDT' and network = 'ERC20') as usdt from currency`,
    );
    expect(row).toEqual({ active: expect.any(Number), all: expect.any(Number), usdt });
    expect((row as { active: number }).active).toBe((row as { all: number }).all);
  });

  it('counts no deposit before finality on its network, even when its currency row asks for fewer confirmations', async () => {
    const confirmations = async () => {
      await gateway.app.catalogue.refresh();
      const { json } = await gateway.call('GET', '/currencies');
      return json.find((row: { coin: string }) => row.coin === 'ETH').min_confirmations;
    };
    await query(
      gateway.databaseUrl,
      `update currency set min_confirmations = 1 where coin = 'ETH' and network = 'ETH'`,
    );
    expect(await confirmations()).toBe(2);
    await query(
      gateway.databaseUrl,
      `update currency set min_confirmations = 64 where coin = 'ETH' and network = 'ETH'`,
    );
    expect(await confirmations()).toBe(64);
  });

  it('quotes nothing that is off', async () => {
    const ask = (from: string, to: string) => {
      const [coinFrom, networkFrom] = from.split('/');
      const [coinTo, networkTo] = to.split('/');
      return gateway.call(
        'GET',
        `/partner/rates?coin_from=${coinFrom}&network_from=${networkFrom}&coin_to=${coinTo}&network_to=${networkTo}&amount_from=1&rate_type=float`,
      );
    };
    expect((await ask('LTC/LTC', 'ETH/ETH')).status).toBe(200);
    for (const [from, to] of [
      ['BTC/BTC', 'ETH/ETH'],
      ['LTC/LTC', 'USDC/ERC20'],
      ['LTC/LTC', 'USDT/TRC20'],
    ]) {
      const { status, json } = await ask(from ?? '', to ?? '');
      expect([status, json.code]).toEqual([422, 'currency_inactive']);
    }
  });

  it('makes orders with addresses of its networks only', async () => {
    const { key } = await gateway.partner();
    const body = {
      coin_from: 'LTC',
      network_from: 'LTC',
      coin_to: 'ETH',
      network_to: 'ETH',
      amount_from: 1,
      rate_type: 'float',
      recipient_address: addressExample('ETH'),
      refund_address: 'rltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c23g5xdr',
    };
    const made = await gateway.call('POST', '/partner/orders', { key, body });
    expect([made.status, made.json.deposit_address]).toEqual([201, expect.stringMatching(/^rltc1q/)]);
    const main = await gateway.call('POST', '/partner/orders', {
      key,
      body: { ...body, refund_address: 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh' },
    });
    expect([main.status, main.json.code]).toEqual([422, 'wrong_network_address']);
    const off = await gateway.call('POST', '/partner/orders', {
      key,
      body: { ...body, coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
    });
    expect([off.status, off.json.code]).toEqual([422, 'currency_inactive']);
  });

  it('stores the identity and the hot wallet of each chain', async () => {
    expect(await query(gateway.databaseUrl, 'select chain, identity from chain_state order by chain')).toEqual([
      { chain: 'ethereum', identity: expect.stringMatching(/^evm:31337:0x[0-9a-f]{64}$/) },
      { chain: 'litecoin', identity: 'utxo:530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9' },
    ]);
    expect(
      await query(gateway.databaseUrl, `select name, value from setting where name like 'hot_wallet:%' order by name`),
    ).toEqual([
      { name: 'hot_wallet:ethereum', value: expect.stringMatching(/^0x[0-9A-Fa-f]{40}$/) },
      { name: 'hot_wallet:litecoin', value: expect.stringMatching(/^rltc1q/) },
    ]);
    expect(await query(gateway.databaseUrl, 'select 1 from sandbox_chain')).toEqual([]);
    expect(await query(gateway.databaseUrl, 'select 1 from ledger_line')).toEqual([]);
  });

  it('takes leases of its chains only', async () => {
    await query(gateway.databaseUrl, `insert into chain_state (chain, identity) values ('bsc', 'evm:97:0x')`);
    await gateway.app.settlement?.worker.tick();
    expect(
      await query(gateway.databaseUrl, 'select chain from chain_state where lease_owner is not null order by chain'),
    ).toEqual([{ chain: 'ethereum' }, { chain: 'litecoin' }]);
    await query(gateway.databaseUrl, `delete from chain_state where chain = 'bsc'`);
  });

  it('shows its networks on the command line, and 1 when one is not well', async () => {
    const listed = JSON.parse((await cli('network', 'list', '--json')).output).networks;
    expect(listed.slice(0, 3).map((row: { chain: string; state: string }) => [row.chain, row.state])).toEqual([
      ['litecoin', 'live'],
      ['ethereum', 'live'],
      ['bitcoin', 'off'],
    ]);

    const [{ value: wallet } = { value: '' }] = await query<{ value: string }>(
      gateway.databaseUrl,
      `select value from setting where name = 'hot_wallet:ethereum'`,
    );
    const empty = await cli('network', 'check', '--chain', 'ethereum', '--json');
    expect([empty.code, JSON.parse(empty.output).wallets[0]]).toEqual([
      1,
      { chain: 'ethereum', wallet, coin: 'ETH', balance: '0', booked: '0', level: 'low', fee: null, problem: null },
    ]);

    await anvil.rpc('anvil_setBalance', wallet, '0x8ac7230489e80000');
    await anvil.mine();
    const tooMuch =
      'orders may be of 200000, and the signer signs up to 100 (per_payment): lower it with currency set --max';
    const wide = await cli('network', 'check', '--chain', 'ethereum', '--json');
    expect([wide.code, JSON.parse(wide.output).wallets[1].problem]).toEqual([1, tooMuch]);
    const set = (max: string) => cli('currency', 'set', '--coin', 'USDT', '--network', 'ERC20', '--max', max);
    const above = await set('100.01');
    expect([above.code, above.errors]).toEqual([
      1,
      'a maximum of 100.01 USDT on ERC20 is above what the signer signs for one payment, 100 (limits.USDT.per_payment of NETWORKS_FILE); set it to 100 or less, or raise that limit first\n',
    ]);
    expect((await set('100')).code).toBe(0);
    const full = await cli('network', 'check', '--chain', 'ethereum', '--json');
    const { good, signer: told, nodes, wallets } = JSON.parse(full.output);
    expect(told).toEqual({
      signer: settings.SIGNER_SOCKET,
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      signs_for: ['ethereum'],
      problem: null,
    });
    expect(full.errors).toBe('');
    expect(nodes).toEqual([
      {
        chain: 'ethereum',
        node: anvil.url,
        head: expect.any(Number),
        lag_sec: expect.any(Number),
        syncing: false,
        problem: null,
      },
    ]);
    expect(
      wallets.map((row: { coin: string; balance: string; level: string }) => [row.coin, row.balance, row.level]),
    ).toEqual([
      // Nothing of it is in the book yet.
      ['ETH', '10', 'waits'],
      ['USDT', '0', 'ok'],
    ]);
    expect(wallets[0].fee).toMatch(/^0\.0\d+ ETH$/);
    expect([full.code, good]).toEqual([0, true]);

    const down = await cli('network', 'check', '--chain', 'litecoin');
    expect([down.code, down.output]).toEqual([1, expect.stringContaining('does not answer')]);
    const unknown = await cli('network', 'check', '--chain', 'tron');
    expect([unknown.code, unknown.errors]).toEqual([1, 'tron is no live network; these are: ethereum, litecoin\n']);
  });

  it('is told why the signer cannot be used', async () => {
    const problem = async (changes: Record<string, string>) => {
      const { code, output } = await cliWith(changes, 'network', 'check', '--chain', 'ethereum', '--json');
      return [code, JSON.parse(output).signer?.problem ?? null];
    };
    expect(await problem({ ROLE: 'api', SIGNER_SOCKET: '' })).toEqual([0, null]);
    expect(await problem({ SIGNER_SOCKET: '' })).toEqual([
      1,
      expect.stringMatching(/^SIGNER_SOCKET is not set; a good/),
    ]);
    expect(await problem({ SIGNER_SECRET: 'ab'.repeat(32) })).toEqual([
      1,
      expect.stringContaining('its secret is not the one of SIGNER_SECRET; signer and gateways need the same'),
    ]);
    expect(await problem({ SIGNER_SOCKET: join(folder, 'absent.sock') })).toEqual([
      1,
      expect.stringContaining('absent.sock (ENOENT); start the signer'),
    ]);
    const narrow = { ETH: { per_payment: '99', per_day: '1000' }, USDT: limits };
    const NETWORKS_FILE = await networksFile({ ethereum: ethereum({ limits: narrow }), litecoin });
    expect(await problem({ NETWORKS_FILE })).toEqual([
      1,
      'its limits of ethereum are not those of NETWORKS_FILE here: give both the same file and restart it',
    ]);
    const dogecoin = { ...litecoin, limits: { DOGE: limits } };
    const more = await networksFile({ ethereum: ethereum(), dogecoin });
    const { output } = await cliWith({ NETWORKS_FILE: more }, 'network', 'check', '--chain', 'dogecoin', '--json');
    expect(JSON.parse(output).signer).toMatchObject({
      signs_for: [],
      problem: 'it does not sign for dogecoin: start it with the same NETWORKS_FILE',
    });
  });

  it('is told once about a node of another chain, and does not wait long for one that hangs', async () => {
    const other = await startAnvil({ chainId: 1337 });
    const hung = createServer(() => {}).listen(0, '127.0.0.1');
    await once(hung, 'listening');
    const { port } = hung.address() as AddressInfo;
    try {
      const NETWORKS_FILE = await networksFile({
        ethereum: ethereum({ nodes: [{ url: other.url }, { url: `http://127.0.0.1:${port}/` }] }),
        litecoin,
      });
      const { output } = await cliWith({ NETWORKS_FILE }, 'network', 'check', '--chain', 'ethereum', '--json');
      expect(JSON.parse(output).nodes.map((row: { problem: string }) => row.problem)).toEqual([
        'is a node of chain 1337, and the settings say 31337',
        `the node at http://127.0.0.1:${port} does not answer`,
      ]);
    } finally {
      hung.closeAllConnections();
      hung.close();
      await other.stop();
    }
  });

  it('keeps the hands of the sandbox off real chains', async () => {
    const [order] = await query<{ id: string }>(gateway.databaseUrl, 'select id from exchange_order');
    const paid = await cli('sandbox', 'deposit', '--order', order?.id ?? '');
    expect([paid.code, paid.errors]).toEqual([
      1,
      "litecoin is a real network here, and the sandbox's commands work on its own chains only\n",
    ]);
    const mined = await cli('sandbox', 'mine', '--network', 'BTC');
    expect([mined.code, mined.errors]).toEqual([1, expect.stringMatching(/^bitcoin is off here/)]);
    const all = await cli('sandbox', 'mine');
    expect([all.code, all.errors]).toEqual([
      1,
      'no chain here is of the sandbox: ethereum, litecoin are real, and all others are off\n',
    ]);
    const priced = await cliWith(
      { PRICE_SOURCES: 'kraken,binance' },
      'sandbox',
      'price',
      '--coin',
      'LTC',
      '--price',
      '1',
    );
    expect([priced.code, priced.errors]).toEqual([
      1,
      'prices come from PRICE_SOURCES, and the sandbox makes none up\n',
    ]);
    const limited = await cliWith({ VENUE: 'inventory' }, 'sandbox', 'inventory', '--coin', 'LTC', '--amount', '1');
    expect([limited.code, limited.errors]).toEqual([1, 'exchanges are made at VENUE, and the sandbox makes none\n']);
  });
});

describeWithAnvil('a later start', () => {
  it('needs no node that answers', async () => {
    const networks = { ethereum: ethereum({ nodes: [{ url: 'http://127.0.0.1:1/' }] }), litecoin };
    const gateway = await start({ networks });
    expect(gateway.told.filter((line) => line.includes('may have to wait'))).toHaveLength(2);
    await gateway.stop();
  });

  it('is refused with the nodes of another chain that has the same id', async () => {
    const other = await startAnvil({ arguments: ['--timestamp', '1700000000'] });
    try {
      const networks = {
        ethereum: ethereum({ nodes: [{ url: other.url }], tokens: {}, limits: { ETH: limits } }),
        litecoin,
      };
      expect(await refusal({ networks })).toMatch(
        /^ethereum is evm:31337:0x[0-9a-f]{64} in this database, and evm:31337:0x[0-9a-f]{64} by the settings; a database never/,
      );
    } finally {
      await other.stop();
    }
  });

  it('is refused with another network, with the sandbox, and in an api process as well', async () => {
    const networks = { ethereum: ethereum({ chain_id: 11155111 }), litecoin };
    const told = await refusal({ networks, settings: { ROLE: 'api' } });
    expect(told).toMatch(/^ethereum is evm:31337:0x\w+ in this database, and evm:11155111 by the settings/);
  });

  it('is refused when its signer pays from another wallet', async () => {
    await query(database.url, `update setting set value = $1 where name = 'hot_wallet:ethereum'`, [
      addressExample('ETH'),
    ]);
    expect(await refusal({})).toMatch(
      /the signer's hot wallet of ethereum is 0x\w{40}, and this database pays from 0x9858EfFD232B4033E47d90003D41EC34EcaEda94/,
    );
  });
});

describeWithAnvil('writeTokenContracts', () => {
  it('takes another contract only while nothing was deposited under the old one', async () => {
    const own = await createDatabase();
    const orm = await createOrm({ url: own.url, poolSize: 2 });
    const contracts = async (contract: string): Promise<string[]> => {
      const text = stringify({ networks: { ethereum: ethereum({ tokens: { USDT: contract } }) } });
      const networks = new LiveNetworks(readNetworks(text, 'x', chainCoins));
      const em = orm.em.fork();
      const faults = await writeTokenContracts(em, networks, new Date());
      if (faults.length === 0) await em.flush();
      return faults;
    };
    const stored = () =>
      query<{ contract: string }>(own.url, `select contract from currency where coin = 'USDT' and network = 'ERC20'`);
    try {
      expect(await contracts(usdt)).toEqual([]);
      expect(await stored()).toEqual([{ contract: usdt }]);
      await query(
        own.url,
        `insert into deposit (id, chain, key, txid, address, contract, coin, network, amount, state, confirmations_required, seen_at)
         values ($1, 'ethereum', 'a:0', 'a', 'b', $2, 'USDT', 'ERC20', 1, 'mempool', 1, now())`,
        [randomUUID(), usdt],
      );
      expect(await contracts(usdt)).toEqual([]);
      expect(await contracts(addressExample('ETH'))).toEqual([
        expect.stringMatching(/tokens\.USDT is 0x9858.* and this database holds deposits of USDT on ERC20 under 0x/),
      ]);
      expect(await stored()).toEqual([{ contract: usdt }]);
    } finally {
      await orm.close(true);
      await own.drop();
    }
  });
});
