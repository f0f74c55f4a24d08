import { pathToFileURL } from 'node:url';
import { withConstantsApart } from './settings.ts';

const hook = pathToFileURL('test/support/gateway/other-constants.ts').href;

/**
 * The environment of a program of ours. Its constants may have values that no operator gets.
 */
export function programEnvironment(texts: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const { environment, others } = withConstantsApart(texts);
  if (Object.keys(others).length === 0) return environment;
  const options = [environment.NODE_OPTIONS ?? '', `--import=${hook}`].join(' ').trim();
  return { ...environment, NODE_OPTIONS: options, TEST_CONSTANTS: JSON.stringify(others) };
}
