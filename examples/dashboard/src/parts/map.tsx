// Where the locations are: longitude and latitude as they are, drawn without any tiles.
import { LAND } from "./land";

export type Spot = { id: string; name: string; lat: number; lng: number; share: number; alarms: boolean };

export function WorldMap({ spots }: { spots: readonly Spot[] }) {
  return (
    <svg className="map" viewBox="-170 -75 350 130" role="group" aria-label="Map of all locations">
      <path className="land" d={LAND} aria-hidden="true" />
      {spots.map(({ id, name, lat, lng, share, alarms }) => (
        <a key={id} href={`#/location/${id}`} aria-label={`${name}, ${Math.round(share * 100)} % occupied${alarms ? ", overdue" : ""}`}>
          <circle className={alarms ? "alarm" : ""} cx={lng} cy={-lat} r={4} />
          <circle className="taken" cx={lng} cy={-lat} r={4 * Math.sqrt(share)} />
          <title>{`${name}: ${Math.round(share * 100)} % occupied`}</title>
        </a>
      ))}
    </svg>
  );
}
