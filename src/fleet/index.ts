/** The `./fleet` subpath: the operator's side of a fleet, over SQL alone. */
export { CompanyError, CompanyStatus, FleetPhase, FleetState } from "./CompanyState.ts"
export { type AddResult, Fleet, type FleetCompany, type FleetListOptions, type FleetSelection } from "./Fleet.ts"
export { FleetError, isFleetError } from "./FleetError.ts"
export * as FleetReason from "./FleetReason.ts"
export { type ChangeResult, FleetOperator, type FleetTurn, type Pause, type Removal } from "./store/operator.ts"
export type { FleetHold, FleetProcess, FleetRequests } from "./store/runners.ts"
