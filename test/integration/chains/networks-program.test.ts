import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { settings, withRealNode } from '../../support/chains/network-starts.ts';
import { createDatabase } from '../../support/database/database.ts';
import { builtScript } from '../../support/gateway/built-process.ts';
import { programEnvironment } from '../../support/gateway/program-environment.ts';

withRealNode();

describeWithAnvil('the program', () => {
  it('prints an example that fits the networks, and sends no coins to addresses without an owner', async () => {
    const own = await createDatabase('empty');
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [builtScript('main.js')], {
      env: programEnvironment({
        PATH,
        HOME,
        ...settings,
        DATABASE_URL: own.url,
        PORT: '0',
        INTERNAL_PORT: '0',
        LOG_LEVEL: 'silent',
        REQUIRE_DURABLE_COMMITS: 'false',
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    try {
      while (!output.includes('ready rest=')) await once(child.stdout, 'data');
      const [, line = ''] = /^ask for a rate:\ncurl -sS '(\S+)' -H 'Authorization: Bearer \S+'$/m.exec(output) ?? [];
      expect(output).not.toContain('create an order');
      const answer = await fetch(line);
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ coin_from: 'ETH' })]);
    } finally {
      child.kill('SIGTERM');
      await ended;
      await own.drop();
    }
  });
});
