"""Draw a chart as a minimal SVG for the golden files, one shape per line."""

from portal.charts import PriceChart


def draw(chart: PriceChart) -> str:
    plot = chart.plot
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{chart.view_box}" '
        f'width="{chart.width}" font-family="sans-serif" font-size="{chart.font_size}">',
        f'<rect x="{plot.x}" y="{plot.y}" width="{plot.width}" height="{plot.height}" '
        'fill="none" stroke="#ccc"/>',
    ]
    if chart.zone:
        zone = chart.zone
        out.append(
            f'<rect x="{zone.x}" y="{zone.y}" width="{zone.width}" height="{zone.height}" '
            'fill="#eee"/>'
        )
    if chart.zone_label:
        note = chart.zone_label
        out.append(f'<text x="{note.x}" y="{note.y}" text-anchor="end">{note.text}</text>')
    for tick in chart.prices:
        out.append(f'<path d="M{plot.x} {tick.at}h{plot.width}" stroke="#ddd"/>')
        out.append(f'<text x="{tick.x}" y="{tick.y}" text-anchor="end">{tick.text}</text>')
    for tick in chart.months:
        out.append(f'<path d="M{tick.at} {plot.y + plot.height}v4" stroke="#888"/>')
        out.append(f'<text x="{tick.x}" y="{tick.y}" text-anchor="middle">{tick.text}</text>')
    for series in chart.series:
        out.append(f'<g fill="none" stroke="#000" aria-label="{series.name}: {series.now}">')
        out.append(f'<path d="{series.real_path}"/>')
        out.append(f'<path d="{series.predicted_path}" stroke-dasharray="4 3"/>')
        out.append(f'<path d="{series.markers_path}"/>')
        out += [f'<circle cx="{d.x}" cy="{d.y}" r="3"/>' for d in series.dots]
        for hit in series.hits:
            out.append(f'<circle cx="{hit.x}" cy="{hit.y}" r="5" opacity="0">')
            out.append(f"<title>{hit.text}</title></circle>")
        out.append("</g>")
    for mark in chart.labels:
        out.append(f'<circle cx="{mark.dot_x}" cy="{mark.dot_y}" r="3.5"/>')
        out.append(
            f'<text x="{mark.x}" y="{mark.y}" text-anchor="{mark.anchor}">{mark.text}</text>'
        )
    return "\n".join([*out, "</svg>", ""])
