/** The `./fleet` subpath: the operator's side of a fleet, over SQL alone. */
export { CompanyError, CompanyStatus, Phase, State } from "./CompanyState.ts"
export { type Added, Fleet, type FleetCompany, type ListOptions } from "./Fleet.ts"
export { FleetError } from "./FleetError.ts"
export type { Changed, Pause, Run } from "./store/operator.ts"
