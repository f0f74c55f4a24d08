import { type Setting, settings } from './settings.ts';

/** The text of `.env.example`: each setting with its default and why it exists. */
export function environmentExample(): string {
  const blocks = Object.entries(settings).map(
    ([name, row]: [string, Setting<unknown>]) => `# ${row.why}\n# a good value: ${row.good}\n${name}=${row.shown}\n`,
  );
  return `# Every setting of the gateway. All are optional: without any, the embedded defaults start.\n\n${blocks.join('\n')}`;
}
