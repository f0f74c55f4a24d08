import { dustSender } from './strategies/dust-sender.ts';
import { gasBurner } from './strategies/gas-burner.ts';
import { honest } from './strategies/honest.ts';
import { latePayer } from './strategies/late-payer.ts';
import { mixedFlow } from './strategies/mixed-flow.ts';
import { optionTaker } from './strategies/option-taker.ts';
import { refundFarmer } from './strategies/refund-farmer.ts';
import { reorgSpender } from './strategies/reorg-spender.ts';
import { thinBookBidder } from './strategies/thin-book-bidder.ts';
import type { Strategy } from './strategy.ts';

/** Every strategy, by name. */
export const strategies: Readonly<Record<string, Strategy>> = Object.fromEntries(
  [optionTaker, dustSender, gasBurner, thinBookBidder, refundFarmer, reorgSpender, latePayer, honest, mixedFlow].map(
    (strategy) => [strategy.name, strategy],
  ),
);
