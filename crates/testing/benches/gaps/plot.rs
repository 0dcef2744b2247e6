//! A picture of slowdowns by gap, both axes logarithmic.

use std::fmt::Write as _;

/// The slowdowns of one runner.
pub struct Curve {
    name: &'static str,
    /// Gaps in nanoseconds, ascending, and slowdowns.
    pub points: Vec<(u64, f64)>,
}

impl Curve {
    /// Returns a curve without points.
    pub fn new(name: &'static str) -> Curve {
        Curve {
            name,
            points: Vec::new(),
        }
    }
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;
/// The powers of ten at the ends of the axes: nanoseconds, and slowdowns.
const GAPS: (i32, i32) = (1, 7);
const SLOWDOWNS: (i32, i32) = (0, 5);
/// Lines are told apart by their dashes, too.
const STYLES: [(&str, &str); 6] = [
    ("#1b7f3b", ""),
    ("#1b7f3b", "6 3"),
    ("#1f5fa8", ""),
    ("#1f5fa8", "6 3"),
    ("#b5482a", "2 3"),
    ("#555555", "8 3 2 3"),
];

/// Returns the curves as SVG, on a white ground.
pub fn plot(curves: &[Curve]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Slowdown by the gap between events</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    axes(&mut svg);
    for (number, (curve, style)) in curves.iter().zip(STYLES).enumerate() {
        draw(&mut svg, curve, style, number);
    }
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String) {
    let gap_names = [
        "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms",
    ];
    for (power, name) in (GAPS.0..=GAPS.1).zip(gap_names) {
        let at = x(f64::from(power));
        line(svg, (at, TOP, at, HEIGHT - BOTTOM));
        let below = HEIGHT - BOTTOM + 18.0;
        text(svg, (at, below), "middle", name);
    }
    for power in SLOWDOWNS.0..=SLOWDOWNS.1 {
        let at = y(f64::from(power));
        line(svg, (LEFT, at, WIDTH - RIGHT, at));
        let name = format!("{}", 10_u64.pow(power.unsigned_abs()));
        text(svg, (LEFT - 8.0, at + 4.0), "end", &name);
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    text(
        svg,
        (middle, HEIGHT - 10.0),
        "middle",
        "gap between two events",
    );
    text(svg, (4.0, TOP - 4.0), "start", "times the program alone");
}

fn draw(svg: &mut String, curve: &Curve, (color, dashes): (&str, &str), number: usize) {
    let mut points = String::new();
    for (gap_ns, slowdown) in &curve.points {
        // Without a gap the call itself takes some nanoseconds.
        let at = (
            x((*gap_ns as f64).max(10.0).log10()),
            y(slowdown.max(1.0).log10()),
        );
        let _ = write!(points, "{:.1},{:.1} ", at.0, at.1);
    }
    let style = format!(
        "fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\""
    );
    let _ = writeln!(svg, "<polyline points=\"{}\" {style}/>", points.trim_end());
    let (left, at) = (WIDTH - RIGHT + 12.0, TOP + 16.0 + 20.0 * number as f64);
    let _ = writeln!(svg, "<path d=\"M{left} {at}h28\" {style}/>");
    text(svg, (left + 34.0, at + 4.0), "start", curve.name);
}

fn line(svg: &mut String, (x1, y1, x2, y2): (f64, f64, f64, f64)) {
    let _ = writeln!(
        svg,
        "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#d8d8d8\"/>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn x(power: f64) -> f64 {
    let (low, high) = (f64::from(GAPS.0), f64::from(GAPS.1));
    LEFT + (power - low) / (high - low) * (WIDTH - LEFT - RIGHT)
}

fn y(power: f64) -> f64 {
    let (low, high) = (f64::from(SLOWDOWNS.0), f64::from(SLOWDOWNS.1));
    HEIGHT - BOTTOM - (power - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
}
