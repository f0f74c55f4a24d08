import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { type Anvil, startAnvil, type TokenName } from './anvil.ts';
import { type Litecoind, startLitecoind } from './litecoind.ts';
import { type Monerod, startMonerod } from './monerod.ts';
import { RealSolana } from './real-solana.ts';
import { RealStellar } from './real-stellar.ts';
import { RealTon } from './real-ton.ts';
import { RealTron } from './real-tron.ts';
import { RealXrp } from './real-xrp.ts';

/** What a test changes in the settings of a network, by their names in the file. */
export type NetworkChanges = Readonly<Record<string, unknown>>;

export interface RealChainsOptions {
  readonly ethereum?: NetworkChanges;
  readonly litecoin?: NetworkChanges;
  readonly tron?: NetworkChanges;
  readonly ripple?: NetworkChanges;
  readonly stellar?: NetworkChanges;
  readonly solana?: NetworkChanges;
  readonly ton?: NetworkChanges;
  readonly monero?: NetworkChanges;
}

/** What else a test chooses of its chains. */
export interface ChainsToStart {
  /** The contract that plays USDT on Ethereum; one with 6 decimals. */
  readonly token?: TokenName | undefined;
  /** The clock of a Tron. Without one there is no Tron. */
  readonly tron?: { now(): Date } | undefined;
  /** The clock of an XRP Ledger. Without one there is none. */
  readonly xrp?: { now(): Date } | undefined;
  /** The clock of a Stellar. Without one there is none. */
  readonly stellar?: { now(): Date } | undefined;
  /** The clock of a Solana. Without one there is none. */
  readonly solana?: { now(): Date } | undefined;
  /** The clock of a TON. Without one there is none. */
  readonly ton?: { now(): Date } | undefined;
  /** Whether there is a Monero, on a real node with its own clock. */
  readonly monero?: boolean | undefined;
}

interface Others {
  readonly tron: RealTron | null;
  readonly xrp: RealXrp | null;
  readonly stellar: RealStellar | null;
  readonly solana: RealSolana | null;
  readonly ton: RealTon | null;
  readonly monero: Monerod | null;
}

/**
 * An Ethereum and a Litecoin of one's own on real nodes. Where asked, a Tron, an XRP Ledger and a
 * Stellar on simulated ones, and a folder with the file of networks that names them.
 */
export class RealChains {
  readonly anvil: Anvil;
  readonly litecoind: Litecoind;
  /** Contract of the token that plays USDT, with 6 decimals. */
  readonly token: string;
  readonly folder: string;
  readonly #tron: RealTron | null;
  readonly #xrp: RealXrp | null;
  readonly #stellar: RealStellar | null;
  readonly #solana: RealSolana | null;
  readonly #ton: RealTon | null;
  readonly #monero: Monerod | null;

  private constructor(
    parts: Pick<RealChains, 'anvil' | 'litecoind' | 'token' | 'folder'>,
    { tron, xrp, stellar, solana, ton, monero }: Others,
  ) {
    this.anvil = parts.anvil;
    this.litecoind = parts.litecoind;
    this.token = parts.token;
    this.folder = parts.folder;
    this.#tron = tron;
    this.#xrp = xrp;
    this.#stellar = stellar;
    this.#solana = solana;
    this.#ton = ton;
    this.#monero = monero;
  }

  static async start(options: RealChainsOptions = {}, toStart: ChainsToStart = {}): Promise<RealChains> {
    const folder = await mkdtemp(join(tmpdir(), 'real-chains-'));
    const [anvil, litecoind, tron, xrp, stellar, solana, ton, monero] = await Promise.all([
      startAnvil(),
      startLitecoind(),
      toStart.tron ? RealTron.start(toStart.tron) : null,
      toStart.xrp ? RealXrp.start(toStart.xrp) : null,
      toStart.stellar ? RealStellar.start(toStart.stellar) : null,
      toStart.solana ? RealSolana.start(toStart.solana) : null,
      toStart.ton ? RealTon.start(toStart.ton) : null,
      toStart.monero ? startMonerod() : null,
    ]);
    const token = await anvil.deployToken(6, toStart.token ?? 'Token');
    await anvil.mine(5);
    const others = { tron, xrp, stellar, solana, ton, monero };
    const chains = new RealChains({ anvil, litecoind, token, folder }, others);
    await chains.writeNetworks(options);
    return chains;
  }

  /** @throws Error when no Tron was asked for. */
  get tron(): RealTron {
    if (this.#tron === null) throw new Error('these chains were started without a Tron');
    return this.#tron;
  }

  /** @throws Error when no XRP Ledger was asked for. */
  get xrp(): RealXrp {
    if (this.#xrp === null) throw new Error('these chains were started without an XRP Ledger');
    return this.#xrp;
  }

  /** @throws Error when no Stellar was asked for. */
  get stellar(): RealStellar {
    if (this.#stellar === null) throw new Error('these chains were started without a Stellar');
    return this.#stellar;
  }

  /** @throws Error when no Solana was asked for. */
  get solana(): RealSolana {
    if (this.#solana === null) throw new Error('these chains were started without a Solana');
    return this.#solana;
  }

  /** @throws Error when no TON was asked for. */
  get ton(): RealTon {
    if (this.#ton === null) throw new Error('these chains were started without a TON');
    return this.#ton;
  }

  get hasTon(): boolean {
    return this.#ton !== null;
  }

  /** @throws Error when no Monero was asked for. */
  get monero(): Monerod {
    if (this.#monero === null) throw new Error('these chains were started without a Monero');
    return this.#monero;
  }

  get hasMonero(): boolean {
    return this.#monero !== null;
  }

  get hasSolana(): boolean {
    return this.#solana !== null;
  }

  get hasStellar(): boolean {
    return this.#stellar !== null;
  }

  /** The nodes that are simulated, as settings name them. */
  get simulatedNodes(): readonly NodeConfig[] {
    return [this.#tron, this.#xrp, this.#stellar, this.#solana, this.#ton].flatMap(
      (one) => one?.nodes.map(({ config }) => config) ?? [],
    );
  }

  get hasXrp(): boolean {
    return this.#xrp !== null;
  }

  get hasTron(): boolean {
    return this.#tron !== null;
  }

  get networksFile(): string {
    return join(this.folder, 'networks.yaml');
  }

  /** Settings of a gateway or a signer of these chains. */
  get environment(): Readonly<Record<string, string>> {
    return { NETWORKS_FILE: this.networksFile, SIGNER_SOCKET: join(this.folder, 'signer.sock') };
  }

  async writeNetworks(changes: RealChainsOptions = {}): Promise<void> {
    const { ethereum = {}, litecoin = {}, tron = {}, ripple = {}, stellar = {}, solana = {} } = changes;
    const { ton = {}, monero = {} } = changes;
    const networks = {
      ethereum: {
        kind: 'evm',
        chain_id: this.anvil.chainId,
        nodes: [{ url: this.anvil.url }],
        start_height: await this.anvil.height(),
        finality: 4,
        reorg_window: 64,
        poll_ms: 100,
        internal_transfers: 'trace',
        tokens: { USDT: this.token },
        max_fee_per_gas_gwei: '100',
        replace_after_sec: 30,
        sweep_from: { ETH: '0.01', USDT: '10' },
        wallet_levels: { ETH: { low: '1', high: '100000' }, USDT: { low: '100' } },
        limits: {
          ETH: { per_payment: '1000', per_day: '100000' },
          USDT: { per_payment: '1000000', per_day: '100000000' },
        },
        ...ethereum,
      },
      litecoin: {
        kind: 'utxo',
        net: 'regtest',
        nodes: [
          {
            url: this.litecoind.config.url,
            user: this.litecoind.config.user,
            password: this.litecoind.config.password,
          },
        ],
        start_height: await this.litecoind.height(),
        finality: 3,
        reorg_window: 64,
        poll_ms: 100,
        fee_floor: '0.0001',
        fee_ceiling: '0.01',
        fee_target: 2,
        replaceable: true,
        replace_after_sec: 30,
        mempool: true,
        sweep_from: { LTC: '0.1' },
        wallet_levels: { LTC: { low: '10' } },
        limits: { LTC: { per_payment: '10000', per_day: '1000000' } },
        ...litecoin,
      },
      ...(this.#tron ? { tron: { ...this.#tron.section(), ...tron } } : {}),
      ...(this.#xrp ? { ripple: { ...this.#xrp.section(), ...ripple } } : {}),
      ...(this.#stellar ? { stellar: { ...this.#stellar.section(), ...stellar } } : {}),
      ...(this.#ton ? { ton: { ...this.#ton.section(), ...ton } } : {}),
      ...(this.#solana ? { solana: { ...this.#solana.section(), ...solana } } : {}),
      ...(this.#monero ? { monero: { ...(await this.#monero.section()), ...monero } } : {}),
    };
    await writeFile(this.networksFile, stringify({ networks }));
  }

  /** A block on each chain, or this many. */
  async mine(blocks = 1): Promise<void> {
    await Promise.all([
      this.anvil.mine(blocks),
      this.litecoind.mine(blocks),
      this.#tron?.mine(blocks),
      this.#xrp?.mine(blocks),
      this.#stellar?.mine(blocks),
      this.#solana?.mine(blocks),
      this.#ton?.mine(blocks),
      this.#monero?.mine(blocks),
    ]);
  }

  /** Funds the hot wallets, in ordinary transactions. */
  async fund(hot: { readonly ethereum: string; readonly litecoin: string; readonly tron?: string }): Promise<void> {
    await this.anvil.send(hot.ethereum, 1_000n * 10n ** 18n);
    await this.anvil.sendToken(this.token, hot.ethereum, 1_000_000n * 10n ** 6n);
    // Several outputs, so that payments need not wait for one another's change.
    for (let output = 0; output < 5; output += 1) await this.litecoind.pay(hot.litecoin, 100n * 10n ** 8n);
    if (hot.tron) await this.#tron?.fund(hot.tron);
    await this.mine();
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.anvil.stop(),
      this.litecoind.stop(),
      this.#tron?.stop(),
      this.#xrp?.stop(),
      this.#stellar?.stop(),
      this.#solana?.stop(),
      this.#ton?.stop(),
      this.#monero?.stop(),
    ]);
    await rm(this.folder, { recursive: true, force: true });
  }
}
