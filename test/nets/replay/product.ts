// What the replay takes from src. All other files of the replay import it from here.

export { startApp } from '../../../src/app/app.ts';
export { startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
export { Big, floorTo, formatDecimal, toUnits } from '../../../src/base/money.ts';
export { networkById } from '../../../src/chains/networks/networks.ts';
export { SandboxPriceSource } from '../../../src/market/rates/sources/sandbox-price-source.ts';
export type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
