export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Minutes of killed processes: npm run torture -- crashes.
  testPathIgnorePatterns: ['/node_modules/', '/test/fault/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
  // A bound for what hangs, not a measure: programs start slowly on a busy machine.
  testTimeout: 180_000,
  reporters: ['default', '<rootDir>/test/support/jest/attempts-reporter.js'],
  // Files wait for nodes and databases more than they compute.
  maxWorkers: 2,
  // Modules of ended files are never freed. A worker that grew beyond this is replaced after its file.
  workerIdleMemoryLimit: '2GB',
};
