import { playEach } from "./each-scenario.ts";
import { outages } from "./scenarios/all.ts";

playEach("stores that are slow or away, and services that stand still,", outages);
