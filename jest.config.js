/**
 * Tests that end and start processes, drive a browser or real nodes, try hostile chains and models,
 * build or pack: `npm run test:slow`. All others run with `npm test`.
 */
const slow = [
  'test/attacks/api6-business-flows.test.ts',
  'test/attacks/api6-exposure.test.ts',
  'test/attacks/api8-process.test.ts',
  'test/browser/',
  'test/contract/fuzz.test.ts',
  'test/fault/commission-year.test.ts',
  'test/integration/app/alerts.test.ts',
  'test/integration/app/api-processes.test.ts',
  'test/integration/app/build-web.test.ts',
  'test/integration/app/build.test.ts',
  'test/integration/app/certificates.test.ts',
  'test/integration/app/closed-output.test.ts',
  'test/integration/app/demo.test.ts',
  'test/integration/app/embedded-postgres.test.ts',
  'test/integration/app/start.test.ts',
  'test/integration/chains/evm-lies.test.ts',
  'test/integration/chains/hostile-chains.test.ts',
  'test/integration/chains/monero-adapter.test.ts',
  'test/integration/chains/monero-cases.test.ts',
  'test/integration/chains/monero-lies.test.ts',
  'test/integration/chains/networks-program.test.ts',
  'test/integration/chains/networks.test.ts',
  'test/integration/chains/solana-lies.test.ts',
  'test/integration/chains/stellar-lies.test.ts',
  'test/integration/chains/tron-crediting.test.ts',
  'test/integration/chains/tron-lies.test.ts',
  'test/integration/chains/utxo-lies.test.ts',
  'test/integration/client/',
  'test/integration/economics.test.ts',
  'test/integration/exchanges/exchange-pace.test.ts',
  'test/integration/exchanges/exchange-process.test.ts',
  'test/integration/exchanges/live-settings.test.ts',
  'test/integration/real-chains/',
  'test/integration/settlement/choice-races.test.ts',
  'test/integration/settlement/model.test.ts',
  'test/integration/settlement/policy-model.test.ts',
  'test/integration/signer/keys-apart.test.ts',
  'test/integration/signer/seed.test.ts',
  'test/integration/support/faults.test.ts',
  'test/integration/webhooks/kills.test.ts',
  'test/integration/webhooks/starvation.test.ts',
  'test/nets/',
];

/** What the projects share. Jest reads some options for each project, others once. */
const shared = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  transform: {},
  testRunner: '<rootDir>/test/support/jest/shared-modules-runner.js',
  // A bound for what hangs, not a measure: programs start slowly on a busy machine.
  testTimeout: 180_000,
};

/** Tests with a PostgreSQL server and a seeded database. */
const withServers = {
  ...shared,
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
};

const inFolder = (path) => `<rootDir>/${path}${path.endsWith('/') ? '**/*.test.ts' : ''}`;

export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...withServers,
      displayName: 'gateway',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      // Minutes of killed processes: npm run torture -- crashes.
      testPathIgnorePatterns: ['/node_modules/', '/test/unit/', '/test/fault/', ...slow.map((path) => `/${path}`)],
    },
    { ...withServers, displayName: 'slow', testMatch: slow.map(inFolder) },
  ],
  testTimeout: shared.testTimeout,
  reporters: [
    'default',
    '<rootDir>/test/support/jest/attempts-reporter.js',
    '<rootDir>/test/support/jest/counts-reporter.js',
  ],
  // Files wait for nodes and databases more than they compute.
  maxWorkers: 3,
};
