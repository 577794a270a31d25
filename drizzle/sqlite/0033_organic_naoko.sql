CREATE TABLE `quota_counts` (
	`project_id` text NOT NULL,
	`subject` text NOT NULL,
	`policy` text NOT NULL,
	`window_start` integer NOT NULL,
	`window_end` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`project_id`, `subject`, `policy`, `window_start`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `quota_counts_end` ON `quota_counts` (`window_end`);