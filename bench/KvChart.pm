# KvChart: the chart of the rows that have a short label, as SVG: bars on a logarithmic axis, readable on light and dark ground.

package KvChart;

use strict;
use warnings;

my ($left, $right, $top, $step) = (250, 150, 66, 22);
my ($width, $low, $high) = (420, 0.5, 32);

# Returns the SVG; a row is a reference to label, ratio, least, most and goal, which may be undefined.
sub svg
{
	my ($title, $subtitle, $axis, @rows) = @_;
	my $bottom = $top + $step * @rows;
	my ($all_width, $all_height) = ($left + $width + $right, $bottom + 44);
	my $svg = <<"END";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $all_width $all_height" width="$all_width" height="$all_height" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>$title</title>
<style>
text { fill: #333 } .faint { fill: #666 } .grid { stroke: #ccc } .one { stroke: #666 } .met { fill: #2a7fb8 } .unmet { fill: #c9722b } .range { stroke: #333 } .goal { fill: #333 }
\@media (prefers-color-scheme: dark) { text { fill: #ddd } .faint { fill: #aaa } .grid { stroke: #444 } .one { stroke: #aaa } .met { fill: #4fa3d9 } .unmet { fill: #e08e4a } .range { stroke: #eee } .goal { fill: #eee } }
</style>
<text x="8" y="20" font-size="15" font-weight="600">$title</text>
<text x="8" y="38" class="faint">$subtitle</text>
END

	for (my $tick = $low; $tick <= $high; $tick *= 2)
	{
		my $x = place($tick);
		my $class = $tick == 1 ? 'one' : 'grid';
		$svg .= qq(<line x1="$x" x2="$x" y1="@{[ $top - 8 ]}" y2="$bottom" class="$class"/><text x="$x" y="@{[ $bottom + 16 ]}" text-anchor="middle" class="faint">$tick</text>\n);
	}
	$svg .= qq(<text x="@{[ $left + $width / 2 ]}" y="@{[ $bottom + 34 ]}" text-anchor="middle" class="faint">$axis</text>\n);
	foreach my $index (0 .. $#rows)
	{
		$svg .= bar($top + $step * $index, @{ $rows[$index] });
	}
	return $svg . "</svg>\n";
}

# Returns a row: label, bar from 1 to the ratio, its range, a mark for the goal, the figures.
sub bar
{
	my ($y, $label, $ratio, $least, $most, $goal) = @_;
	my $middle = $y + $step / 2 - 3;
	my @ends = sort { $a <=> $b } map { place($_) } 1, $ratio;
	my $class = !defined $goal || $ratio >= $goal ? 'met' : 'unmet';
	my $text = sprintf '%s &#215;', figure($ratio);
	my $svg = sprintf qq(<text x="%d" y="%.1f" text-anchor="end">%s</text><rect x="%.1f" y="%.1f" width="%.1f" height="12" class="%s"/>),
		$left - 10, $middle + 4, $label, $ends[0], $middle - 6, $ends[1] - $ends[0] || 1, $class;

	$svg .= sprintf q(<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" class="range"/>), place($least), place($most), $middle, $middle;
	if (defined $goal)
	{
		$svg .= sprintf q(<path d="M%.1f %.1fl4 -6h-8z" class="goal"/>), place($goal), $middle - 5;
		$text .= sprintf '  (goal %s)', figure($goal);
	}
	return $svg . sprintf qq(<text x="%d" y="%.1f" xml:space="preserve">%s</text>\n), $left + $width + 12, $middle + 4, $text;
}

# Returns where a ratio lies on the axis.
sub place
{
	my ($ratio) = @_;
	$ratio = $ratio < $low ? $low : $ratio > $high ? $high : $ratio;
	return sprintf '%.1f', $left + $width * log($ratio / $low) / log($high / $low);
}

# Returns a figure as people read it.
sub figure
{
	my ($number) = @_;
	return $number >= 10 ? sprintf('%.0f', $number) : sprintf('%.2f', $number) =~ s/(\.\d)0$/$1/r;
}

1;
