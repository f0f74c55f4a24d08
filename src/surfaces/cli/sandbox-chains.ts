import { AppError } from '../../base/errors.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { allNetworks, networkById } from '../../chains/networks/networks.ts';

/** Returns the sandbox chain of a network. The sandbox's commands never affect real chains. */
export function chainOf(networks: LiveNetworks, network: string): string {
  const found = networkById(network);
  if (found) {
    const state = networks.state(found.chain);
    if (state === 'sandbox') return found.chain;
    const what = state === 'live' ? `is a real network here` : 'is off here';
    throw new AppError(
      'invalid_value',
      `${found.chain} ${what}, and the sandbox's commands work on its own chains only`,
    );
  }
  const known = allNetworks().map(({ id }) => id);
  throw new AppError('unknown_network', `there is no network ${network.slice(0, 20)}; known are ${known.join(', ')}`);
}
