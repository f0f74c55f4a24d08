/** Returns the given members of an input. Null counts as absent. */
export function omitNullish<Input extends object>(input: Input): { [Key in keyof Input]?: NonNullable<Input[Key]> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined)) as {
    [Key in keyof Input]?: NonNullable<Input[Key]>;
  };
}
