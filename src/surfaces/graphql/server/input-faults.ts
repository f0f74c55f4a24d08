import { AppError } from '../../../base/errors.ts';

/** Names of inputs by the names that a service has for them. */
type InputNames = Readonly<Record<string, string>>;

/**
 * Runs the work of a mutation. Faults of its refusal get the names of the inputs that they are
 * about, so that a form can show each at its field.
 */
export async function withInputNames<Result>(names: InputNames, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.extras.faults === undefined) throw error;
    const { kind, detail, extras } = error;
    const faults = error.extras.faults.map((fault) => ({ ...fault, field: names[fault.field] ?? fault.field }));
    throw new AppError(kind, detail, { ...extras, faults, cause: error });
  }
}
