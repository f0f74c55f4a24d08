import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Anvil, quantity, startAnvil } from '../support/chains/anvil.ts';
import { TestSigner } from '../support/gateway/test-signer.ts';

/** What a unit of gas costs, in wei. */
const gasPrice = 10n * 10n ** 9n;
const ether = 10n ** 18n;

/**
 * Runs 70,000 rounds of nothing, which takes 1.8 million units of gas: PUSH3 n; JUMPDEST; n-1;
 * DUP1; JUMPI; STOP.
 */
const burner = '0x620111705b60019003806004570000';
/** REVERT(0, 0). */
const reverter = '0x60006000fd';

/** A real Ethereum of the simulation's own, whose gas costs something. */
export class Ethereum {
  readonly anvil: Anvil;

  private constructor(anvil: Anvil) {
    this.anvil = anvil;
  }

  static async start(): Promise<Ethereum> {
    return new Ethereum(await startAnvil());
  }

  /**
   * Settings of a gateway on it, with every other chain the sandbox's, and the signer process that
   * these name.
   *
   * @returns the settings, and how to end the signer.
   */
  async serve(folder: string): Promise<{ settings: Record<string, string>; close: () => Promise<void> }> {
    const path = join(folder, 'networks.yaml');
    const settings = { DATA_DIR: folder, NETWORKS_FILE: path, SIGNER_SOCKET: join(folder, 'signer.sock') };
    const ethereum = {
      kind: 'evm',
      chain_id: this.anvil.chainId,
      nodes: [{ url: this.anvil.url }],
      start_height: await this.anvil.height(),
      finality: 4,
      reorg_window: 64,
      poll_ms: 100,
      internal_transfers: 'none',
      max_fee_per_gas_gwei: '100',
      replace_after_sec: 600,
      sweep_from: { ETH: '0.01' },
      limits: { ETH: { per_payment: '100', per_day: '100000' } },
    };
    await writeFile(path, stringify({ networks: { ethereum }, others: 'sandbox' }));
    const signer = new TestSigner(settings);
    await signer.start();
    return { settings, close: () => signer.stop() };
  }

  /** A block at a moment, at the simulation's price of gas. */
  async mine(at: Date): Promise<void> {
    await this.anvil.setBaseFee(gasPrice);
    await this.anvil.rpc('evm_setNextBlockTimestamp', quantity(Math.floor(at.getTime() / 1000)));
    await this.anvil.mine();
  }

  /** Sends coins of a stranger, at a fee that every block takes; the txid. */
  async send(to: string, amount: bigint): Promise<string> {
    return this.anvil.rpc<string>('eth_sendTransaction', {
      from: this.anvil.accounts[0],
      to,
      value: quantity(amount),
      maxFeePerGas: quantity(10n * gasPrice),
      maxPriorityFeePerGas: quantity(1n),
    });
  }

  async fund(hotWallet: string): Promise<void> {
    await this.send(hotWallet, 2_000n * ether);
  }

  /** Puts code at an address that burns gas, or that takes nothing. */
  async setCode(address: string, kind: 'burner' | 'reverter'): Promise<void> {
    await this.anvil.rpc('anvil_setCode', address, kind === 'burner' ? burner : reverter);
  }
}
