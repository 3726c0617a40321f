export { operatorSignIn, tenantSignIn } from "./sign-in.ts";
