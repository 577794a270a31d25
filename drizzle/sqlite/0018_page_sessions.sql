CREATE TABLE `counters` (
	`project_id` text NOT NULL,
	`hour` integer NOT NULL,
	`name` text NOT NULL,
	`label` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`project_id`, `hour`, `name`, `label`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `counters_hour` ON `counters` (`hour`);--> statement-breakpoint
CREATE TABLE `page_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`project_id` text NOT NULL,
	`subject` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `page_sessions_subject` ON `page_sessions` (`project_id`,`subject`,`kind`);--> statement-breakpoint
CREATE INDEX `page_sessions_expiry` ON `page_sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`last_seen_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `user_id`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `users_seen` ON `users` (`project_id`,`last_seen_at`,`user_id`);--> statement-breakpoint
CREATE INDEX `authorizations_ended` ON `authorizations` (`project_id`,`expires_at`) WHERE completed_at is not null;--> statement-breakpoint
CREATE INDEX `authorizations_of_project` ON `authorizations` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `authorizations_of_status` ON `authorizations` (`project_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `connections_of_status` ON `connections` (`project_id`,`status`,`id`);