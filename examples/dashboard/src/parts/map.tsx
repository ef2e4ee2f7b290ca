// Where the locations are: longitude and latitude as they are, with lines every 30 degrees, drawn without any tiles.
export type Spot = { id: string; name: string; lat: number; lng: number; share: number; alarms: boolean };

export function WorldMap({ spots }: { spots: readonly Spot[] }) {
  const lines = [-60, -30, 0, 30, 60];
  return (
    <svg className="map" viewBox="-180 -80 360 150" role="group" aria-label="Map of all locations">
      {lines.map((degree) => (
        <line key={`lat${degree}`} x1="-180" x2="180" y1={-degree} y2={-degree} />
      ))}
      {[-150, -120, -90, -60, -30, 0, 30, 60, 90, 120, 150].map((degree) => (
        <line key={`lng${degree}`} x1={degree} x2={degree} y1="-80" y2="70" />
      ))}
      {spots.map(({ id, name, lat, lng, share, alarms }) => (
        <a key={id} href={`#/location/${id}`} aria-label={`${name}, ${Math.round(share * 100)} % occupied`}>
          <circle className={alarms ? "alarm" : ""} cx={lng} cy={-lat} r={4} />
          <circle className="taken" cx={lng} cy={-lat} r={4 * Math.sqrt(share)} />
          <title>{`${name}: ${Math.round(share * 100)} % occupied`}</title>
        </a>
      ))}
    </svg>
  );
}
