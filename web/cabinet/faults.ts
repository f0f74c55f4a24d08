import type { FormFaults } from '../ui/dialog.tsx';
import { faultsOf } from '../ui/failure.ts';
import { PasskeyError } from './webauthn.ts';

/**
 * What is wrong with an action, for its form. A refusal of a value quotes the value; it goes to the
 * field that holds it when the server names no field.
 *
 * @param values What was typed, by field.
 */
export function actionFaults(error: unknown, values: Readonly<Record<string, string>> = {}): FormFaults {
  if (error instanceof PasskeyError) return { whole: error.message, fields: {} };
  const faults = faultsOf(error);
  const [, quoted] = /^'([^']+)'/.exec(faults.whole ?? '') ?? [];
  if (quoted === undefined || Object.keys(faults.fields).length > 0) return faults;
  const field = Object.entries(values).find(([, value]) => value.includes(quoted))?.[0];
  return field === undefined ? faults : { whole: null, fields: { [field]: faults.whole ?? '' } };
}
