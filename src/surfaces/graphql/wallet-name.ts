import { Field, ObjectType } from 'type-graphql';

/** The fields that name a hot wallet, for the types that tell something of one. */
@ObjectType()
export abstract class WalletNameType {
  @Field(() => String, { description: 'Chain.' })
  chain!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;
}
