CREATE TABLE `paused_code` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text,
	`state` text NOT NULL,
	`running_until` integer,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `paused_code_expiry` ON `paused_code` (`expires_at`);--> statement-breakpoint
CREATE INDEX `paused_code_of_project` ON `paused_code` (`project_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `paused_code_of_user` ON `paused_code` (`project_id`,`user_id`);