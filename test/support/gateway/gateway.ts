import { keyScopes } from '../../../src/accounts/partners/key-scope.ts';
import { type KeyOptions, PartnerService } from '../../../src/accounts/partners/partner-service.ts';
import type { StaffRole } from '../../../src/accounts/staff/staff-member.entity.ts';
import { type IssuedToken, StaffService } from '../../../src/accounts/staff/staff-service.ts';
import { type App, startApp } from '../../../src/app/app.ts';
import { openHasher } from '../../../src/app/bootstrap.ts';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { rulesByName } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { gatewayTerms } from '../../../src/config/fixed-rates.ts';
import type { Config } from '../../../src/config/settings.ts';
import { createDatabase, query } from '../database/database.ts';
import { type Call, contractClient } from '../http/contract-client.ts';
import { type TestSettings, testConfig, testSettings, widePayouts } from './settings.ts';

export interface TestGateway {
  readonly app: App;
  readonly config: Config;
  readonly databaseUrl: string;
  readonly partners: PartnerService;
  readonly staff: StaffService;
  /** Calls the public listener and checks every reply against the contract. */
  readonly call: Call;
  /** A new partner with a key. */
  partner(options?: KeyOptions): Promise<{ id: string; keyId: string; key: string }>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly settings?: TestSettings;
  readonly outside?: OutsideWorld;
  /** Whether the database counts as the gateway's own; true unless given. */
  readonly embedded?: boolean;
  /** An existing database, for a second process on it. */
  readonly databaseUrl?: string;
}

/** Members who came long enough ago to approve what others propose. */
class EarlierStaff extends StaffService {
  readonly #orm: App['orm'];

  constructor(...[orm, hasher, clock]: ConstructorParameters<typeof StaffService>) {
    super(orm, hasher, clock);
    this.#orm = orm;
  }

  override async create(email: string, role: StaffRole): Promise<IssuedToken> {
    const issued = await super.create(email, role);
    await this.#orm.em.fork().execute('update staff_member set approves_from = null where id = ?', [issued.member.id]);
    return issued;
  }
}

/** Limits that no test reaches by accident. */
const wideLimits = {
  RATE_LIMIT_PUBLIC_PER_MIN: '100000',
  RATE_LIMIT_PARTNER_PER_MIN: '100000',
  RATE_LIMIT_ORDERS_PER_MIN: '100000',
  RATE_LIMIT_LISTS_PER_MIN: '100000',
  RATE_LIMIT_VALIDATIONS_PER_MIN: '100000',
  RATE_LIMIT_CHANGES_PER_MIN: '100000',
  RATE_LIMIT_PAGES_PER_MIN: '100000',
  MAX_OPEN_ORDERS: '100000',
  MAX_FIXED_EXPOSURE_USD: '1000000000',
  MAX_FIXED_DAY_USD: '1000000000',
  MAX_FIXED_ALL_USD: '9000000000',
  MAX_FLOAT_EXPOSURE_USD: '1000000000',
  MAX_FLOAT_ALL_USD: '9000000000',
  ...widePayouts,
  RATE_LIMIT_AUTH_FAILURES_PER_MIN: '100000',
  RATE_LIMIT_ICONS_PER_MIN: '100000',
  RATE_LIMIT_SIGN_IN_PER_MIN: '100000',
};

/** A whole gateway on a separate database, on free ports. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const database = options.databaseUrl === undefined ? await createDatabase() : null;
  const databaseUrl = options.databaseUrl ?? database?.url ?? '';
  const config = testConfig({
    DATA_DIR: process.env.TEST_DATA_DIR,
    DATABASE_URL: databaseUrl,
    ...testSettings,
    LOG_LEVEL: 'silent',
    ...wideLimits,
    ...options.settings,
  });
  // The template's shared addresses are those of the usual rules. A first start makes others.
  if (database && rulesByName(config.SANDBOX_RULES).paysFromDeposits) {
    await query(databaseUrl, 'delete from deposit_account where shared_address is not null');
  }
  const app = await startApp({
    config,
    databaseUrl,
    embedded: options.embedded ?? true,
    outside: { checksAnswers: true, ...options.outside },
  });
  const hasher = await openHasher(config, app.orm);
  const clock = options.outside?.clock ?? systemClock;
  const partners = new PartnerService(
    app.orm,
    hasher,
    clock,
    app.networks.areOfValue,
    gatewayTerms(config),
    async () => {},
  );
  return {
    app,
    config,
    databaseUrl,
    partners,
    staff: new EarlierStaff(app.orm, hasher, options.outside?.clock ?? systemClock),
    call: contractClient(app.restUrl ?? ''),
    partner: async (keyOptions) => {
      const { id } = await partners.create('Test partner');
      return { id, ...(await partners.issueKey(id, { scopes: keyScopes, ...keyOptions })) };
    },
    stop: async () => {
      await app.stop();
      await database?.drop();
    },
  };
}
