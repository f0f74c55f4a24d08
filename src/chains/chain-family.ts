import type { MikroORM } from '@mikro-orm/postgresql';
import type { FileSection } from './networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from './networks/network-config.ts';
import type { HttpNodeOptions } from './nodes/http-node.ts';
import type { NodeFacts } from './nodes/node-facts.ts';
import type { ChainAdapter, ChainTraits } from './port/chain-adapter.ts';
import type { Signer } from './port/signer.ts';
import type { SigningKeys, TransactionSigner } from './port/transaction-signer.ts';

/** What an adapter is opened with. */
export interface AdapterParts {
  readonly orm: MikroORM;
  readonly hotWallet: string;
  /** Accounts other than the hot wallet, as the signer reports them; empty on chains without. */
  readonly channels: readonly string[];
  /** The tag of funding. Null where the wallet is no address of deposits, or has never run. */
  readonly fundingTag: string | null;
  /** Changes to the usual options of a node's client. */
  readonly rpc: Pick<HttpNodeOptions, 'timeoutMs'>;
  /** Null in a process without a signer, which reads only. */
  readonly signer: Signer | null;
  /** Identity of the chain on this database; null before its first start. */
  readonly knownIdentity: () => Promise<string | null>;
}

/**
 * Everything that depends on the kind of a live chain: one row of the table of families. The large
 * modules, the adapter and the transactions, are loaded by the call that needs them.
 */
export interface ChainFamily<Network extends LiveNetwork = LiveNetwork> {
  readonly kind: Network['kind'];
  /** The chains of the table of networks that its adapter serves. */
  readonly chains: readonly string[];
  readonly traits: ChainTraits;
  /**
   * Reads the section of one of its chains in the file of networks, and records the faults there.
   *
   * @param coins The coins of the catalogue on the chain.
   */
  readSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): Network;
  /**
   * The number of confirmations that make the network's blocks final. Where the chain itself tells
   * finality, it is asked too, and this is the least number of confirmations of a deposit.
   */
  finalityDepth(network: Network): number;
  /** Name of the network among its chain's networks, for people. */
  netName(network: Network): string;
  /**
   * Decides the form in which the process reads and writes addresses. Called once with all live
   * networks of the family, even when there are none.
   */
  useAddressForms(networks: readonly Network[]): void;
  /** Hash of block 0 if the settings tell it; null if a node must tell it. */
  genesisOf(network: Network): string | null;
  /**
   * Identity of the chain whose block 0 has this hash. It begins with an identity of no genesis (''
   * for the hash).
   */
  identityOf(network: Network, genesis: string): string;
  /** CAIP-2 name of the chain, https://standards.chainagnostic.org/CAIPs/caip-2 */
  chainIdOf(network: Network): string;
  /**
   * Whether an identity, or the beginning of one, belongs to a chain of this family whose coins
   * have no value.
   */
  isWorthless(identity: string): boolean;
  /**
   * A note for a person who waits for a check of the nodes, as the end of a sentence; null for
   * none.
   */
  readonly checkNote: string | null;
  /** Set where payments use accounts other than the hot wallet (`AdapterParts.channels`). */
  readonly usesChannels?: true;
  openAdapter(network: Network, parts: AdapterParts): Promise<ChainAdapter>;
  /** Loads the code that checks and signs the network's transactions, given the keys. */
  loadTransactions(network: Network): Promise<(keys: SigningKeys) => TransactionSigner>;
  /**
   * Asks every node for the facts that decide whether it is the right one. Never throws because of
   * a node's answer.
   */
  askNodes(network: Network, coins: readonly ChainCoin[]): Promise<NodeFacts[]>;
}
